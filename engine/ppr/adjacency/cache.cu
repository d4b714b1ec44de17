#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/exec/threads.hpp"
#include "engine/ppr/adjacency/cache.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/wanted.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kPurpose = "lists on their way";
/// Go up at once: enough to fill the link, and little beside the lists.
constexpr std::uint64_t kEdgesAtOnce = 1u << 20, kListsAtOnce = 1u << 16;
constexpr std::uint64_t kPartOfHost = 16;
/// What a thread copies at a time.
constexpr std::uint64_t kListsOfThread = 256;
constexpr unsigned kBlock = 256;

/// A list that is put into the cache.
struct Placed {
  EdgeIndex place = 0;
  double total = 0;  ///< of its weights
  Vertex vertex = 0;
};

/// Of page-locked memory.
struct Stage {
  Stage(const Graph& graph, const Options& options) {
    const std::uint64_t bytes = host_budget().available() / kPartOfHost;
    edges = std::min({graph.edges(), kEdgesAtOnce, bytes / list_edge_bytes(options)});
    const std::uint64_t most = std::clamp<std::uint64_t>(graph.vertices(), 1, kListsAtOnce);
    lists = std::clamp<std::uint64_t>(bytes / sizeof(Placed), 1, most);
  }
  std::uint64_t edges, lists;
};

// ---- kernels

__global__ void __launch_bounds__(kBlock)
    place_lists_kernel(const Placed* placed, std::uint64_t count, EdgeIndex* places, double* totals) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  places[placed[i].vertex] = placed[i].place;
  if (totals != nullptr) totals[placed[i].vertex] = placed[i].total;
}

// ---- launchers

void place_lists(const Placed* placed, std::uint64_t count, EdgeIndex* places, double* totals,
                 const cuda::Stream& stream) {
  const auto blocks = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  place_lists_kernel<<<blocks, kBlock, 0, stream.get()>>>(placed, count, places, totals);
  cuda::check_launch("place_lists_kernel");
}

class CudaListCache final : public ListCache {
 public:
  CudaListCache(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
                std::shared_ptr<ListFeeder> shared)
      : device_(device),
        host_({DeviceChoice::host, device.threads(), 0}),
        graph_(graph),
        options_(options),
        paging_(feeder_paging(graph, paging)),
        offsets_(device, graph.vertices() + 1, "the graph's offsets"),
        places_(device, graph.vertices(), "where lists are"),
        totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights"),
        missing_(device, (graph.vertices() + 63) / 64, "which lists are missing"),
        wanted_(graph.vertices()),
        stage_(graph, options),
        staged_targets_(device, stage_.edges, kPurpose),
        staged_weights_(device, options.weighted ? stage_.edges : 0, kPurpose),
        staged_(device, stage_.lists, kPurpose),
        staged_there_(device, stage_.lists, kPurpose),
        feeder_(std::move(shared)) {
    copy_to_device(device, offsets_.data(), graph.out.offsets.data(), offsets_.bytes());
    traffic_.host_to_device_bytes = offsets_.bytes();
    clear(missing_, 0);
    clear();
    lists_.reserve(stage_.lists);
    if (paging_.shard || device.plans()) feeder();
  }
  ~CudaListCache() override { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  void prepare(std::uint64_t bytes) override {
    if (!targets_.empty()) return;
    capacity_ = std::min<std::uint64_t>(graph_.edges(), bytes / list_edge_bytes(options_));
    targets_ = Buffer<Vertex>(device_, capacity_, "lists that queries came to");
    if (options_.weighted) weights_ = Buffer<float>(device_, capacity_, "lists that queries came to");
  }

  void describe(QueryRules& rules) const override {
    rules.graph = graph_.out.view();
    rules.graph.offsets = offsets_.data();
    rules.graph.targets = targets_.data(), rules.graph.weights = weights_.data();
    rules.places = places_.data(), rules.totals = totals_.data();
    rules.wanted = missing_.data();
  }

  bool bring() override {
    const std::span<std::uint64_t> words = wanted_.words();
    copy_to_host(device_, words.data(), missing_.data(), missing_.bytes());
    clear(missing_, 0);
    missing_count_ = 0;
    std::uint64_t edges = 0;
    wanted_.take_from(0, graph_.vertices(), [&](Vertex v) {
      edges += degree(v);
      ++missing_count_;
      return true;
    });
    if (edges > capacity_ - used_) return false;
    while (missing_count_ != 0) feeder().feed(wanted_, [this](const ListsAtHand& lists) { take(lists); });
    return true;
  }

  void clear() override {
    used_ = 0;
    clear(places_, 0xff);
  }

  void give_back() override {
    clear();
    targets_ = Buffer<Vertex>(), weights_ = Buffer<float>();
    capacity_ = 0;
  }

  void rest() override {
    give_back();
    if (paging_.shard || !feeder_) return;
    fed_.add_later(feeder_->traffic());
    feeder_.reset();
  }

  void finish() override {
    if (feeder_) feeder_->finish();
  }

  std::uint64_t bytes() const override { return targets_.bytes() + weights_.bytes(); }

  std::uint64_t index_bytes() const override {
    return offsets_.bytes() + places_.bytes() + totals_.bytes() + missing_.bytes() + staged_there_.bytes();
  }

  std::shared_ptr<ListFeeder> rank_feeder() const override { return paging_.shard ? feeder_ : nullptr; }

  /// What is brought to the device, and what that takes of files and ranks.
  ListTraffic traffic() const override {
    ListTraffic fed = fed_, sum = traffic_;
    if (feeder_) fed.add_later(feeder_->traffic());
    sum.partitions = fed.partitions, sum.read_bytes = fed.read_bytes;
    sum.asked = fed.asked, sum.answered = fed.answered;
    return sum;
  }

 private:
  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* const offsets = graph_.out.offsets.data() + v;
    return offsets[1] - offsets[0];
  }

  template <class T>
  void clear(const Buffer<T>& column, int byte) {
    if (device_.plans()) return;
    cuda::check(cudaMemsetAsync(column.data(), byte, column.bytes(), stream_.get()), "clearing");
    stream_.wait("clearing");
  }

  ListFeeder& feeder() {
    if (!feeder_) feeder_ = make_feeder(host_, graph_, options_, paging_, host_.memory().available() / 2);
    return *feeder_;
  }

  void take(const ListsAtHand& lists) {
    for (const ListRange& range : lists.ranges()) {
      wanted_.take_from(range.begin, range.end, [&](Vertex v) {
        const ListColumns list = range.of(v);
        if (list.targets != nullptr) add(v, list);
        return true;
      });
    }
    send();
  }

  void add(Vertex v, const ListColumns& list) {
    if (lists_.size() == stage_.lists || waiting_ + degree(v) > stage_.edges) send();
    staged_.data()[lists_.size()] = {used_ + waiting_, 0, v};
    lists_.push_back(list);
    waiting_ += degree(v);
    wanted_.remove(v);
    --missing_count_;
  }

  /// Lists that wait go up, side by side. One that does not fit the stage is alone, and goes as it is.
  void send() {
    if (lists_.empty()) return;
    const bool fits = waiting_ <= stage_.edges;
    parallel_blocks(device_.threads(), lists_.size(), kListsOfThread,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) stage(i, fits);
                    });
    const EdgeIndex first = graph_.out.offsets.data()[staged_.data()[0].vertex];
    up(targets_.data() + used_, fits ? staged_targets_.data() : lists_[0].targets + first,
       waiting_ * sizeof(Vertex));
    if (options_.weighted)
      up(weights_.data() + used_, fits ? staged_weights_.data() : lists_[0].weights + first,
         waiting_ * sizeof(float));
    up(staged_there_.data(), staged_.data(), lists_.size() * sizeof(Placed));
    place_lists(staged_there_.data(), lists_.size(), places_.data(), totals_.data(), stream_);
    stream_.wait("bringing lists");
    used_ += std::exchange(waiting_, 0);
    lists_.clear();
    ++traffic_.transfers;
  }

  /// Sums are added in the list's order, as a single thread does.
  void stage(std::uint64_t i, bool fits) {
    Placed& placed = staged_.data()[i];
    const std::uint64_t size = degree(placed.vertex);
    const EdgeIndex first = graph_.out.offsets.data()[placed.vertex];
    if (fits) std::copy_n(lists_[i].targets + first, size, staged_targets_.data() + (placed.place - used_));
    if (!options_.weighted) return;
    const float* const weights = lists_[i].weights + first;
    if (fits) std::copy_n(weights, size, staged_weights_.data() + (placed.place - used_));
    for (std::uint64_t edge = 0; edge < size; ++edge) placed.total += static_cast<double>(weights[edge]);
  }

  void up(void* to, const void* from, std::uint64_t bytes) {
    cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()), "bringing lists");
    traffic_.host_to_device_bytes += bytes;
  }

  const Device& device_;
  const Device host_;  ///< where feeders have what they take
  const Graph& graph_;
  const Options& options_;
  PagingOptions paging_;
  cuda::Stream stream_;
  Buffer<EdgeIndex> offsets_, places_;
  Buffer<double> totals_;
  Buffer<std::uint64_t> missing_;
  WantedLists wanted_;
  std::uint64_t missing_count_ = 0;
  Stage stage_;
  Staging<Vertex> staged_targets_;
  Staging<float> staged_weights_;
  Staging<Placed> staged_;
  Buffer<Placed> staged_there_;
  std::vector<ListColumns> lists_;  ///< that wait to go up
  std::uint64_t waiting_ = 0;       ///< their edges
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
  std::uint64_t capacity_ = 0, used_ = 0;  ///< in edges
  std::shared_ptr<ListFeeder> feeder_;
  ListTraffic traffic_, fed_;  ///< fed_: by feeders before
};

}  // namespace

std::unique_ptr<ListCache> make_list_cache(const Device& device, const Graph& graph, const Options& options,
                                           const PagingOptions& paging, std::shared_ptr<ListFeeder> shared) {
  return std::make_unique<CudaListCache>(device, graph, options, paging, std::move(shared));
}

}  // namespace sluice::ppr

#include "engine/ppr/adjacency/cache.cuh"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kPurpose = "lists in transit";
/// Copied to the device at once: enough to fill the link, and little beside the cached lists.
constexpr std::uint64_t kStageEdges = 1u << 20, kStageLists = 1u << 16;
constexpr std::uint64_t kHostFraction = 16;
/// Lists that a thread copies at a time.
constexpr std::uint64_t kListsPerTask = 256;
constexpr unsigned kBlock = 256;

/// How lists reach the host's threads: in host memory they are read in place, not copied to slots first.
PagingOptions feeder_paging(const Graph& graph, const PagingOptions& paging) {
  PagingOptions feeding = paging;
  if (!graph.edge_source && paging.transport != Transport::file) feeding.transport = Transport::mapped;
  return feeding;
}

// ---- kernels

__global__ void __launch_bounds__(kBlock)
    place_lists_kernel(const CachedList* placed, std::uint64_t count, EdgeIndex* positions, double* totals) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  positions[placed[i].vertex] = placed[i].position;
  if (totals != nullptr) totals[placed[i].vertex] = placed[i].total;
}

// ---- launchers

void set_positions(const CachedList* placed, std::uint64_t count, EdgeIndex* positions, double* totals,
                   const cuda::Stream& stream) {
  const auto blocks = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  place_lists_kernel<<<blocks, kBlock, 0, stream.get()>>>(placed, count, positions, totals);
  cuda::check_launch("place_lists_kernel");
}

}  // namespace

ListCache::Stage::Stage(const Graph& graph, const Options& options) {
  const std::uint64_t bytes = host_budget().available() / kHostFraction;
  edges = std::min({graph.edges(), kStageEdges, bytes / edge_bytes(1, options.weighted)});
  const std::uint64_t max_lists = std::clamp<std::uint64_t>(graph.vertices(), 1, kStageLists);
  lists = std::clamp<std::uint64_t>(bytes / sizeof(CachedList), 1, max_lists);
}

ListCache::ListCache(const Device& device, const Graph& graph, const Options& options,
                     const PagingOptions& paging, std::shared_ptr<ListFeeder> shared)
    : device_(device),
      host_({DeviceChoice::host, device.threads(), 0}),
      graph_(graph),
      options_(options),
      paging_(feeder_paging(graph, paging)),
      offsets_(device, graph.vertices() + 1, "the graph's offsets"),
      positions_(device, graph.vertices(), "positions of lists"),
      totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights"),
      missing_(device, (graph.vertices() + 63) / 64, "which lists are missing"),
      wanted_(graph.vertices()),
      stage_(graph, options),
      staged_targets_(device, stage_.edges, kPurpose),
      staged_weights_(device, options.weighted ? stage_.edges : 0, kPurpose),
      staged_(device, stage_.lists, kPurpose),
      staged_on_device_(device, stage_.lists, kPurpose),
      feeder_(std::move(shared)) {
  lists_.reserve(stage_.lists);
  if (paging_.shard || device.is_planning()) feeder();
  copy_to_device(device, offsets_.data(), graph.out.offsets.data(), offsets_.bytes());
  clear(missing_, 0);
  clear();
}

void ListCache::prepare(std::uint64_t bytes) {
  if (!targets_.empty()) return;
  capacity_ = std::min<std::uint64_t>(graph_.edges(), bytes / edge_bytes(1, options_.weighted));
  targets_ = Buffer<Vertex>(device_, capacity_, "lists that queries read");
  if (options_.weighted) weights_ = Buffer<float>(device_, capacity_, "lists that queries read");
}

void ListCache::describe(QueryRules& rules) const {
  rules.graph = graph_.out.view();
  rules.graph.offsets = offsets_.data();
  rules.graph.targets = targets_.data(), rules.graph.weights = weights_.data();
  rules.positions = positions_.data(), rules.totals = totals_.data();
  rules.wanted = missing_.data();
}

bool ListCache::fetch_missing() {
  const std::span<std::uint64_t> words = wanted_.words();
  copy_to_host(device_, words.data(), missing_.data(), missing_.bytes());
  std::uint64_t lists = 0, edges = 0;
  wanted_.for_each_while(0, graph_.vertices(), [&](Vertex v) {
    ++lists, edges += degree(v);
    return true;
  });
  const bool fits = edges <= capacity_ - used_;
  while (fits && lists != 0)
    feeder().feed(wanted_, [&](const AvailableLists& available) { lists -= add_lists(available); });
  clear(missing_, 0);
  return fits;
}

void ListCache::clear() {
  used_ = 0;
  clear(positions_, 0xff);
}

void ListCache::release() {
  clear();
  targets_ = Buffer<Vertex>(), weights_ = Buffer<float>();
  capacity_ = 0;
}

void ListCache::release_all() {
  release();
  if (paging_.shard || !feeder_) return;
  earlier_traffic_.add(feeder_->traffic());
  feeder_.reset();
}

void ListCache::throw_too_many_lists() const {
  throw BudgetError("device memory: a query reads more lists than fit in the " + format_size(bytes()) +
                    " that are left (raise --device-memory" +
                    (graph_.edge_source ? "" : ", or use --transport mapped") + ")");
}

ListTraffic ListCache::traffic() const {
  ListTraffic fetched = earlier_traffic_, sum = traffic_;
  if (feeder_) fetched.add(feeder_->traffic());
  sum.partitions = fetched.partitions, sum.read_bytes = fetched.read_bytes;
  sum.requests_sent = fetched.requests_sent, sum.requests_received = fetched.requests_received;
  sum.host_to_device_bytes += offsets_.bytes();
  return sum;
}

template <class T>
void ListCache::clear(const Buffer<T>& column, int byte) {
  if (device_.is_planning()) return;
  cuda::check(cudaMemsetAsync(column.data(), byte, column.bytes(), stream_.get()), "clearing");
  stream_.wait("clearing");
}

ListFeeder& ListCache::feeder() {
  if (!feeder_) feeder_ = make_feeder(host_, graph_, options_, paging_, host_.memory().available() / 2);
  return *feeder_;
}

std::uint64_t ListCache::add_lists(const AvailableLists& lists) {
  std::uint64_t added = 0;
  for (const ListRange& range : lists.ranges()) {
    wanted_.for_each_while(range.begin, range.end, [&](Vertex v) {
      const ListColumns list = range.list_of(v);
      if (list.targets == nullptr) return true;
      stage_list(v, list);
      wanted_.remove(v);
      ++added;
      return true;
    });
  }
  flush();
  return added;
}

void ListCache::stage_list(Vertex v, const ListColumns& list) {
  if (lists_.size() == stage_.lists || staged_edges_ + degree(v) > stage_.edges) flush();
  staged_.data()[lists_.size()] = {used_ + staged_edges_, 0, v};
  lists_.push_back(list);
  staged_edges_ += degree(v);
}

/// Copies the waiting lists to the device, side by side. One larger than the stage is alone, and not staged.
void ListCache::flush() {
  if (lists_.empty()) return;
  const bool fits = staged_edges_ <= stage_.edges;
  parallel_blocks(device_.threads(), lists_.size(), kListsPerTask,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t i = begin; i < end; ++i) copy_to_stage(i, fits);
                  });
  const EdgeIndex first = graph_.out.offsets.data()[staged_.data()[0].vertex];
  upload(targets_.data() + used_, fits ? staged_targets_.data() : lists_[0].targets + first,
         staged_edges_ * sizeof(Vertex));
  if (options_.weighted)
    upload(weights_.data() + used_, fits ? staged_weights_.data() : lists_[0].weights + first,
           staged_edges_ * sizeof(float));
  upload(staged_on_device_.data(), staged_.data(), lists_.size() * sizeof(CachedList));
  set_positions(staged_on_device_.data(), lists_.size(), positions_.data(), totals_.data(), stream_);
  stream_.wait("bringing lists");
  used_ += std::exchange(staged_edges_, 0);
  lists_.clear();
  ++traffic_.partition_transfers;
}

/// Copies a list to the stage, if it fits.
void ListCache::copy_to_stage(std::uint64_t i, bool fits) {
  CachedList& placed = staged_.data()[i];
  const std::uint64_t size = degree(placed.vertex);
  const EdgeIndex first = graph_.out.offsets.data()[placed.vertex];
  if (fits) std::copy_n(lists_[i].targets + first, size, staged_targets_.data() + (placed.position - used_));
  if (!options_.weighted) return;
  const float* const weights = lists_[i].weights + first;
  if (fits) std::copy_n(weights, size, staged_weights_.data() + (placed.position - used_));
  placed.total = sum_of_weights(weights, size);
}

void ListCache::upload(void* target, const void* source, std::uint64_t bytes) {
  cuda::check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_.get()), "bringing lists");
  traffic_.host_to_device_bytes += bytes;
}

}  // namespace sluice::ppr

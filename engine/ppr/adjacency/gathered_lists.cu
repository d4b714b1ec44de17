#include "engine/ppr/adjacency/gathered_lists.cuh"

#include <algorithm>
#include <utility>

#include "engine/exec/threads.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kPurpose = "lists on their way";
/// Go up at once: enough to fill the link, and little beside the lists.
constexpr std::uint64_t kEdgesAtOnce = 1u << 20, kListsAtOnce = 1u << 16;
constexpr std::uint64_t kPartOfHost = 16;
/// What a thread copies at a time.
constexpr std::uint64_t kListsOfThread = 256;
constexpr unsigned kBlock = 256;

/// How lists come to the host: in its memory they are read in place, not copied into slots first.
PagingOptions feeder_paging(const Graph& graph, const PagingOptions& paging) {
  PagingOptions feeding = paging;
  if (!graph.edges_elsewhere && paging.transport != Transport::file) feeding.transport = Transport::mapped;
  return feeding;
}

// ---- kernels

__global__ void __launch_bounds__(kBlock)
    place_lists_kernel(const CachedList* placed, std::uint64_t count, EdgeIndex* places, double* totals) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  places[placed[i].vertex] = placed[i].place;
  if (totals != nullptr) totals[placed[i].vertex] = placed[i].total;
}

// ---- launchers

void place_lists(const CachedList* placed, std::uint64_t count, EdgeIndex* places, double* totals,
                 const cuda::Stream& stream) {
  const auto blocks = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  place_lists_kernel<<<blocks, kBlock, 0, stream.get()>>>(placed, count, places, totals);
  cuda::check_launch("place_lists_kernel");
}

}  // namespace

GatheredLists::Stage::Stage(const Graph& graph, const Options& options) {
  const std::uint64_t bytes = host_budget().available() / kPartOfHost;
  edges = std::min({graph.edges(), kEdgesAtOnce, bytes / list_edge_bytes(options)});
  const std::uint64_t most = std::clamp<std::uint64_t>(graph.vertices(), 1, kListsAtOnce);
  lists = std::clamp<std::uint64_t>(bytes / sizeof(CachedList), 1, most);
}

GatheredLists::GatheredLists(const Device& device, const Graph& graph, const Options& options,
                             const PagingOptions& paging, std::shared_ptr<ListFeeder> shared)
    : device_(device),
      host_({DeviceChoice::host, device.threads(), 0}),
      graph_(graph),
      options_(options),
      paging_(feeder_paging(graph, paging)),
      stage_(graph, options),
      staged_targets_(device, stage_.edges, kPurpose),
      staged_weights_(device, options.weighted ? stage_.edges : 0, kPurpose),
      staged_(device, stage_.lists, kPurpose),
      staged_there_(device, stage_.lists, kPurpose),
      feeder_(std::move(shared)) {
  lists_.reserve(stage_.lists);
  if (paging_.shard || device.plans()) feeder();
}

void GatheredLists::bring(WantedLists& wanted, const CacheColumns& to) {
  to_ = to;
  std::uint64_t missing = wanted.count(0, graph_.vertices());
  while (missing != 0)
    feeder().feed(wanted, [&](const ListsAtHand& lists) { missing -= take(lists, wanted); });
}

void GatheredLists::rest() {
  if (paging_.shard || !feeder_) return;
  brought_.add_later(feeder_->traffic());
  feeder_.reset();
}

ListTraffic GatheredLists::traffic() const {
  ListTraffic brought = brought_, sum = traffic_;
  if (feeder_) brought.add_later(feeder_->traffic());
  sum.partitions = brought.partitions, sum.read_bytes = brought.read_bytes;
  sum.asked = brought.asked, sum.answered = brought.answered;
  return sum;
}

ListFeeder& GatheredLists::feeder() {
  if (!feeder_) feeder_ = make_feeder(host_, graph_, options_, paging_, host_.memory().available() / 2);
  return *feeder_;
}

std::uint64_t GatheredLists::take(const ListsAtHand& lists, WantedLists& wanted) {
  std::uint64_t taken = 0;
  for (const ListRange& range : lists.ranges()) {
    wanted.take_from(range.begin, range.end, [&](Vertex v) {
      const ListColumns list = range.of(v);
      if (list.targets == nullptr) return true;
      add(v, list);
      wanted.remove(v);
      ++taken;
      return true;
    });
  }
  send();
  return taken;
}

void GatheredLists::add(Vertex v, const ListColumns& list) {
  if (lists_.size() == stage_.lists || waiting_ + degree(v) > stage_.edges) send();
  staged_.data()[lists_.size()] = {to_.used + waiting_, 0, v};
  lists_.push_back(list);
  waiting_ += degree(v);
}

/// Lists that wait go up, side by side. One that does not fit the stage is alone, and goes as it is.
void GatheredLists::send() {
  if (lists_.empty()) return;
  const bool fits = waiting_ <= stage_.edges;
  parallel_blocks(device_.threads(), lists_.size(), kListsOfThread,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t i = begin; i < end; ++i) stage(i, fits);
                  });
  const EdgeIndex first = graph_.out.offsets.data()[staged_.data()[0].vertex];
  up(to_.targets + to_.used, fits ? staged_targets_.data() : lists_[0].targets + first,
     waiting_ * sizeof(Vertex));
  if (options_.weighted)
    up(to_.weights + to_.used, fits ? staged_weights_.data() : lists_[0].weights + first,
       waiting_ * sizeof(float));
  up(staged_there_.data(), staged_.data(), lists_.size() * sizeof(CachedList));
  place_lists(staged_there_.data(), lists_.size(), to_.places, to_.totals, stream_);
  stream_.wait("bringing lists");
  to_.used += std::exchange(waiting_, 0);
  lists_.clear();
  ++traffic_.partition_transfers;
}

/// Sums are added in the list's order, as a single thread does.
void GatheredLists::stage(std::uint64_t i, bool fits) {
  CachedList& placed = staged_.data()[i];
  const std::uint64_t size = degree(placed.vertex);
  const EdgeIndex first = graph_.out.offsets.data()[placed.vertex];
  if (fits) std::copy_n(lists_[i].targets + first, size, staged_targets_.data() + (placed.place - to_.used));
  if (!options_.weighted) return;
  const float* const weights = lists_[i].weights + first;
  if (fits) std::copy_n(weights, size, staged_weights_.data() + (placed.place - to_.used));
  for (std::uint64_t edge = 0; edge < size; ++edge) placed.total += static_cast<double>(weights[edge]);
}

void GatheredLists::up(void* to, const void* from, std::uint64_t bytes) {
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()), "bringing lists");
  traffic_.host_to_device_bytes += bytes;
}

}  // namespace sluice::ppr

#include "engine/memory/peer_partitions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/graph/partition_map.hpp"

namespace sluice {

namespace {

constexpr const char* kLabel = "partitions of other ranks";

bool may_use_peers(const ResidentGraph::Impl& graph, const PageRequest& pages) {
  const PagingOptions& paging = graph.paging;
  return may_read_peers(graph.device, paging) && paging.batching && paging.balance == Balance::automatic &&
         !pages.columns.coded;
}

/// Bytes of the largest part. Each column takes at least what can be shared with another process.
std::uint64_t bytes_of(const PartitionPlan& parts, const PageColumns& columns) {
  constexpr std::uint64_t kColumns = 5;
  return parts.largest() + kColumns * PeerMemory::kMinBytes + columns.bytes_per_edge();
}

/// Host memory need not keep what stays on the device.
PageSources without_host_cache(PageSources sources) {
  sources.host_cache = false;
  return sources;
}

}  // namespace

bool may_read_peers(const Device& device, const PagingOptions& paging) {
  return paging.peer_reads && device.is_cuda() && !device.is_planning() && paging.partitions == 0 &&
         paging.slots == 0 && paging.transport != Transport::mapped;
}

/// While it lives, the graph is not divided between ranks.
class PeerPartitions::SingleRankScope {
 public:
  explicit SingleRankScope(PeerPartitions& peers) : peers_(peers) {
    peers_.graph_.paging.shard = nullptr, peers_.graph_.peers = &peers_;
  }
  ~SingleRankScope() { peers_.graph_.paging.shard = &peers_.ranks_, peers_.graph_.peers = nullptr; }
  SingleRankScope(const SingleRankScope&) = delete;
  SingleRankScope& operator=(const SingleRankScope&) = delete;

 private:
  PeerPartitions& peers_;
};

std::unique_ptr<PeerPartitions> PeerPartitions::open(ResidentGraph::Impl& graph, const PageRequest& pages) {
  Communicator* const ranks = graph.paging.shard;
  if (ranks == nullptr) return nullptr;
  const auto size = static_cast<std::uint64_t>(ranks->size());
  PartitionPlan parts =
      PartitionPlan::of_count(graph.graph.out.offsets.span(), {0, pages.columns.bytes_per_edge()}, size);
  const bool fits = may_use_peers(graph, pages) && parts.size() == size &&
                    bytes_of(parts, pages.columns) <= graph.device.memory().available() / 2;
  if (any_left(ranks, fits ? 0 : 1, kLabel)) return nullptr;
  std::unique_ptr<PeerPartitions> peers;
  const auto make = [&] { peers.reset(new PeerPartitions(graph, pages, std::move(parts))); };
  if (!all_have_memory(*ranks, kLabel, make) || !peers->connect(pages.columns)) return nullptr;
  return peers;
}

PeerPartitions::PeerPartitions(ResidentGraph::Impl& graph, const PageRequest& pages, PartitionPlan parts)
    : graph_(graph),
      ranks_(*graph.paging.shard),
      parts_(std::move(parts)),
      own_slot_(graph.device, graph.graph.out.offsets.span(), parts_, pages.columns,
                without_host_cache(pages.sources),
                {.slots = 1, .large = 0, .min_bytes = PeerMemory::kMinBytes}) {
  own_slot_.begin_load(0, static_cast<std::uint32_t>(ranks_.rank()));
  own_slot_.wait();
}

/// Returns false, on all ranks, if a rank cannot access the memory of another.
bool PeerPartitions::connect(const PageColumns& columns) {
  const auto size = static_cast<std::size_t>(ranks_.size()), rank = static_cast<std::size_t>(ranks_.rank());
  const auto first = [&](std::size_t r) { return graph_.graph.out.offsets[parts_.begin(r)]; };
  const PageView own_view = own_slot_.views()[0];
  views_.assign(size, PageView{});
  bool all = true;
  each_column(columns, [&](auto column_of, bool wanted) {
    if (!wanted || !all) return;
    peers_.push_back(PeerMemory::open(ranks_, column_of(own_view) + first(rank)));
    all = peers_.back() != nullptr;
    using Column = std::remove_reference_t<decltype(column_of(views_[0]))>;
    for (std::size_t r = 0; r < size && all; ++r)
      column_of(views_[r]) = rebase(reinterpret_cast<Column>(peers_.back()->by_rank()[r]), first(r));
  });
  if (!all) close();
  return all;
}

/// Frees no memory that another rank still has open.
void PeerPartitions::close() {
  peers_.clear();
  ranks_.barrier(kLabel);
}

void PeerPartitions::run(FunctionRef<void()> body) {
  const std::exception_ptr memory_error = catch_budget_error([&] {
    const SingleRankScope single_rank(*this);
    body();
  });
  const bool any_failed = any_left(&ranks_, memory_error ? 1 : 0, kLabel);
  close();
  throw_if_out_of_memory(memory_error, any_failed);
}

PagedPlan PeerPartitions::plan(std::uint64_t bytes_per_instance, std::uint64_t instances,
                               std::uint64_t steps) const {
  const std::uint64_t left = graph_.device.memory().available();
  PagedPlan plan{parts_};
  plan.slots = static_cast<unsigned>(parts_.size());
  plan.batch = std::min(
      {without_fixed_bytes(left) / bytes_per_instance, std::max<std::uint64_t>(instances, 1), kMaxInFlight});
  plan.leg = steps, plan.instance_bytes = bytes_per_instance;
  if (plan.batch == 0)
    throw BudgetError(fmt::format(
        "device memory: one instance needs {}, but {} are left after the rank's part of the graph (raise "
        "--device-memory)",
        format_size(kFixedBytes + bytes_per_instance), format_size(left)));
  return plan;
}

void PeerPartitions::count(RunStats& stats) const {
  const Slots::Counters& counters = own_slot_.counters();
  stats.partition_transfers += counters.transfers;
  stats.host_to_device_bytes += counters.copied_bytes, stats.read_bytes += counters.read_bytes;
}

void with_peer_partitions(ResidentGraph::Impl& graph, const PageRequest& pages, RunStats& stats,
                          FunctionRef<void()> body) {
  const double loading = seconds_now();
  const auto peers = PeerPartitions::open(graph, pages);
  if (!peers) return body();
  peers->count(stats);
  stats.load_seconds += seconds_now() - loading;
  peers->run(body);
}

}  // namespace sluice

#include "engine/memory/partition_cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/exec/memory/link.hpp"
#include "engine/memory/peer_partitions.hpp"
#include "engine/memory/schedule/sweep_pass.hpp"

namespace sluice {

namespace {

/// Approximate number of reads in one visit to a list.
double reads_of(const PageColumns& columns, double picks) {
  constexpr double kSearch = 16;  // steps of a search in a CTPS
  constexpr double kCode = 3;     // sample, high bits, low bits
  return picks * ((columns.coded ? kCode : 1) + (columns.alias ? 2 : 0) + (columns.cumulative ? kSearch : 0) +
                  (columns.weights ? 1 : 0));
}

LargePartitions large_of(const PagedPlan& plan) {
  if (plan.large_slots == 0) return {};
  LargePartitions large{{}, plan.large_slots};
  for (std::uint64_t p = 0; p < plan.partitions.size(); ++p)
    large.is_large.push_back(plan.partitions.oversized(p));
  return large;
}

/// If the slots hold all partitions of this rank, each is brought once.
PageSources sources_for(PageSources sources, const OwnedPartitions& own, unsigned slots) {
  if (own.end - own.begin <= slots) sources.uncached = own;
  return sources;
}

}  // namespace

PartitionCache::PartitionCache(const Device& device, std::span<const EdgeIndex> offsets,
                               const PageRequest& pages, PagedPlan plan, const PagingOptions& paging,
                               const AccessPattern& use, std::span<const PageView> present_views)
    : plan_(std::move(plan)),
      paging_(paging),
      owned_(OwnedPartitions::of(paging.shard, plan_.partitions.size())),
      steps_(use.steps),
      // If partitions have shares of the device, all that fit are to be worked on side by side.
      visits_once_(use.visits_once && paging.balance == Balance::automatic),
      slots_(device, offsets, plan_.partitions, pages.columns,
             sources_for(pages.sources, owned_, plan_.slots),
             {present_views.empty() ? plan_.slots : 0, plan_.large_slots, 0, present_views}),
      transport_(plan_.partitions,
                 use.picks > 0 && paging.transport == Transport::automatic && slots_.can_map()
                     ? measure_link(device, slots_.host_words())
                     : LinkRates{},
                 reads_of(pages.columns, use.picks), plan_.slot_bytes),
      scheduler_(partitions(), plan_.slots, paging.schedule, large_of(plan_)) {
  if (present_views.empty()) return;
  std::vector<std::uint32_t> all(partitions());
  std::iota(all.begin(), all.end(), 0u);
  for (const std::uint32_t partition : all) scheduler_.replace({partition, partition});
  scheduler_.arrive(all);
}

PartitionCache::PartitionCache(const ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan,
                               const AccessPattern& use)
    : PartitionCache(graph.device, graph.graph.out.offsets.span(), pages, std::move(plan), graph.paging, use,
                     graph.peers ? graph.peers->views() : std::span<const PageView>()) {}

void PartitionCache::drain(std::span<const std::uint64_t> waiting, const Work& work, std::uint64_t max_left) {
  for (;;) {
    std::vector<std::uint64_t> loadable(partitions(), 0);
    std::copy(waiting.begin() + owned_.begin, waiting.begin() + owned_.end, loadable.begin() + owned_.begin);
    const std::uint64_t left = std::reduce(loadable.begin(), loadable.end());
    if (left == 0) return scheduler_.arrive(slots_.wait());
    if (left <= max_left) return move({{}, scheduler_.choose(loadable)});
    run_round(std::move(loadable), waiting, work);
  }
}

/// Brings and works on partitions once. `loadable` counts the work of partitions that may be brought.
void PartitionCache::run_round(std::vector<std::uint64_t> loadable, std::span<const std::uint64_t> waiting,
                               const Work& work) {
  const std::vector<std::uint32_t> mapped = choose_mapped(loadable);
  for (const std::uint32_t partition : mapped) loadable[partition] = 0;
  move({{}, scheduler_.choose(loadable)});
  std::vector<std::uint32_t> present = scheduler_.residents();
  present.insert(present.end(), mapped.begin(), mapped.end());
  std::erase_if(present, [&](std::uint32_t p) { return waiting[p] == 0; });
  work_on(present, mapped, work);
  // Disk and link should never idle. While the first half of the loads is worked on and the next are chosen,
  // the other half is brought. Work that moves on needs full slots.
  scheduler_.arrive(slots_.wait((visits_once_ ? scheduler_.loading() : spare_slots()) / 2));
  free_slots(waiting);
}

void PartitionCache::sweep(std::span<const std::uint64_t> waiting, const Work& work) {
  if (paging_.transport == Transport::mapped) {
    const std::vector<std::uint32_t> wanted = scheduler_.wanted(waiting);
    return work_on(wanted, wanted, work);
  }
  SweepPass pass(scheduler_, waiting);
  for (;;) {
    move(pass.fill());
    if (pass.none_resident()) {
      if (pass.none_loading()) return;
      // Half of the passing slots fill while arrived partitions are worked on, so that the link never idles.
      pass.arrive(slots_.wait(pass.streaming_slots() / 2));
    }
    work_on(pass.next(), {}, work);
  }
}

/// Takes partitions out of slots, and starts to bring others.
void PartitionCache::move(const PartitionMoves& moves) {
  for (const std::uint32_t partition : moves.evicted) slots_.drop(partition);
  for (const PartitionLoad& load : moves.loads) slots_.begin_load(load.slot, load.partition);
}

/// Works on `present` partitions, which are in slots or, those in `mapped`, read in place.
void PartitionCache::work_on(std::span<const std::uint32_t> present, std::span<const std::uint32_t> mapped,
                             const Work& work) {
  if (present.empty()) return;
  for (const std::uint32_t partition : mapped) slots_.map(partition);
  work(present);
  for (const std::uint32_t partition : mapped) slots_.drop(partition);
  ++rounds_;
  mapped_rounds_ += !mapped.empty();
}

/// Slots kept empty or filling, so that the next partitions arrive while others are worked on. With shares of
/// the device, or if lists are visited once, free_slots() retires all partitions without work instead: then
/// the next ones are worked on side by side too.
unsigned PartitionCache::spare_slots() const {
  // A slot that is being filled serves no walk, and two or three concurrent copies fill the link: of 32 large
  // slots, three spare ones gave 3.56 G steps/s, two 3.51, four 3.45 and six 3.14 (H200, Kronecker scale 24).
  // But the copies should last as long as the shortest rounds, 0.1 ms: of slots below 1 MB three gave 1.11 G
  // and six 1.37 (scale 20, a run each). For a disk a quarter was measured.
  constexpr std::uint64_t kMaxCopies = 3, kShortRoundBytes = 6u << 20;
  if (slots_.read_from_file()) return std::max(1u, plan_.slots / 4);
  const std::uint64_t wanted =
      std::max(kMaxCopies, kShortRoundBytes * plan_.slots / std::max<std::uint64_t>(plan_.slot_bytes, 1));
  return static_cast<unsigned>(std::clamp<std::uint64_t>(plan_.slots * 3 / 16, 1, wanted));
}

void PartitionCache::free_slots(std::span<const std::uint64_t> waiting) {
  const bool all = visits_once_ || paging_.balance != Balance::automatic;
  // If all partitions fit, they stay, with or without work.
  unsigned absent = 0;
  for (std::uint32_t p = owned_.begin; p < owned_.end; ++p) absent += may_load(p, waiting);
  const unsigned wanted = all ? plan_.slots : spare_slots() - std::min(spare_slots(), scheduler_.loading());
  move({scheduler_.retire(waiting, std::min(wanted, absent)), {}});
}

/// True for an absent partition that may be needed: work that moves on may reach any partition.
bool PartitionCache::may_load(std::uint32_t partition, std::span<const std::uint64_t> waiting) const {
  return scheduler_.absent(partition) && (!visits_once_ || waiting[partition] > 0);
}

void PartitionCache::make_resident(std::span<const std::uint32_t> wanted) {
  scheduler_.arrive(slots_.wait());  // loads of drain() would take slots
  std::vector<std::uint64_t> needed(partitions(), 0);
  for (const std::uint32_t partition : wanted) needed[partition] = 1;
  unsigned missing = 0;
  for (std::uint32_t p = 0; p < partitions(); ++p) missing += needed[p] > 0 && !scheduler_.resident(p);
  // A wanted partition may be in a large slot that another one needs.
  const bool reload_all = missing > 0 && plan_.large_slots > 0;
  move({reload_all ? scheduler_.clear() : scheduler_.retire(needed, missing), {}});
  move({{}, scheduler_.choose(needed)});
  scheduler_.arrive(slots_.wait());
}

void PartitionCache::work_on_all(std::span<const std::uint32_t> wanted,
                                 std::span<const std::uint64_t> waiting, const std::function<void()>& work) {
  make_resident(wanted);
  work();
  ++rounds_;
  free_slots(waiting);
}

/// The partitions that this round reads in place.
std::vector<std::uint32_t> PartitionCache::choose_mapped(std::span<const std::uint64_t> waiting) {
  std::vector<std::uint32_t> mapped;
  if (paging_.shard || !slots_.can_map() || paging_.transport == Transport::copied ||
      paging_.transport == Transport::file)
    return mapped;
  if (paging_.transport == Transport::mapped) {
    mapped.resize(partitions());
    std::iota(mapped.begin(), mapped.end(), 0u);
    return mapped;
  }
  mapped = transport_.mapped(waiting, steps_);
  std::erase_if(mapped, [&](std::uint32_t p) { return !scheduler_.absent(p); });
  return mapped;
}

Traffic PartitionCache::traffic() const {
  const Slots::Counters& counters = slots_.counters();
  Traffic traffic;
  traffic.partitions = plan_.partitions.size();
  traffic.partition_transfers = counters.transfers;
  traffic.host_to_device_bytes = counters.copied_bytes;
  traffic.read_bytes = counters.read_bytes;
  traffic.rounds = rounds_, traffic.mapped_rounds = mapped_rounds_;
  return traffic;
}

void PartitionCache::count(RunStats& stats) {
  const Traffic now = traffic();
  stats.add_traffic(now.since(std::exchange(counted_, now)));
}

Slots::Published PartitionCache::publish_with(std::size_t bytes,
                                              FunctionRef<void(const PageView&, std::byte*)> write) {
  std::vector<std::byte> items(slots_.views().size() * bytes);
  std::byte* next = items.data();
  for (const PageView& page : slots_.views()) write(page, std::exchange(next, next + bytes));
  return slots_.publish(items);
}

}  // namespace sluice

#include "engine/memory/page_loop.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exec/memory/link.hpp"

namespace sluice {

namespace {

/// Reads of a list's edges by one visit, about.
double reads_of(const PageColumns& columns, double picks) {
  constexpr double kSearch = 16;  // of a CTPS
  constexpr double kCode = 4;     // beginning, sample, high bits, low bits
  return picks * ((columns.coded ? kCode : 1) + (columns.alias ? 2 : 0) + (columns.cumulative ? kSearch : 0) +
                  (columns.weights ? 1 : 0));
}

LargePartitions large_of(const PagedPlan& plan) {
  if (plan.large_slots == 0) return {};
  LargePartitions large{{}, plan.large_slots};
  for (std::uint64_t p = 0; p < plan.partitions.size(); ++p) large.of.push_back(plan.partitions.oversized(p));
  return large;
}

}  // namespace

PageLoop::PageLoop(ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan, const PageUse& use,
                   RunStats& stats)
    : graph_(graph),
      stats_(stats),
      plan_(std::move(plan)),
      own_(OwnedPartitions::of(graph.paging.shard, plan_.partitions.size())),
      steps_(use.steps),
      slots_(graph.device, graph.graph.out.offsets.span(), plan_.partitions, pages.columns, pages.sources,
             {plan_.slots, plan_.large_slots}),
      transport_(plan_.partitions,
                 graph.paging.transport == Transport::automatic && slots_.can_map()
                     ? measure_link(graph.device, slots_.host_words())
                     : LinkRates{},
                 reads_of(pages.columns, use.picks), plan_.slot_bytes),
      scheduler_(partitions(), plan_.slots, graph.paging.schedule, large_of(plan_)) {
  if (graph.paging.transport == Transport::mapped && !slots_.can_map()) {
    throw UsageError(
        "--transport mapped: needs the edges and their tables in host memory (raise --host-memory, or "
        "use copied or file)");
  }
  stats_.partitions = plan_.partitions.size();
}

void PageLoop::drain(std::span<const std::uint64_t> waiting, const Work& work, std::uint64_t keep) {
  for (;;) {
    std::vector<std::uint64_t> away(partitions(), 0);
    std::copy(waiting.begin() + own_.begin, waiting.begin() + own_.end, away.begin() + own_.begin);
    const std::uint64_t left = std::reduce(away.begin(), away.end());
    if (left == 0) return scheduler_.arrive(slots_.wait());
    if (left <= keep) return begin_loads(away);
    round(std::move(away), waiting, work);
  }
}

void PageLoop::begin_loads(std::span<const std::uint64_t> away) {
  for (const PartitionLoad& load : scheduler_.choose(away)) slots_.begin(load.slot, load.partition);
}

/// `away` is what waits for partitions that may come.
void PageLoop::round(std::vector<std::uint64_t> away, std::span<const std::uint64_t> waiting,
                     const Work& work) {
  const std::vector<std::uint32_t> mapped = map_some(away);
  for (const std::uint32_t partition : mapped) away[partition] = 0;
  begin_loads(away);
  work_on(mapped, waiting, work);
  // Neither a disk nor a link shall ever have nothing to do: while what has come of half of the loads is
  // worked on, and the next are chosen, it brings the others.
  scheduler_.arrive(slots_.wait(spare() / 2));
  make_room(waiting);
}

/// Slots that are empty, or being filled, let the next partitions come while others are worked on. Where
/// partitions have shares, all that have no work go, so that the next ones are worked on side by side too.
unsigned PageLoop::spare() const {
  // A slot that is being filled serves no walk: over a link three sixteenths gave 2.70 G steps/s, an eighth
  // 2.67 and a quarter 2.58 (H200, Kronecker scale 22). For a disk only the quarter was measured.
  return std::max(1u, slots_.read_from_file() ? plan_.slots / 4 : plan_.slots * 3 / 16);
}

void PageLoop::make_room(std::span<const std::uint64_t> waiting) {
  const bool shares = graph_.paging.balance != Balance::automatic;
  // What all fits stays, whether it has work or not.
  unsigned away = 0;
  for (std::uint32_t p = own_.begin; p < own_.end; ++p) away += scheduler_.away(p);
  const unsigned wanted = shares ? plan_.slots : spare() - std::min(spare(), scheduler_.coming());
  const unsigned empty = std::min(wanted, away);
  for (const std::uint32_t partition : scheduler_.retire(waiting, empty)) slots_.drop(partition);
}

void PageLoop::hold(std::span<const std::uint32_t> wanted) {
  scheduler_.arrive(slots_.wait());  // what drain() left under way would be in their place
  std::vector<std::uint64_t> need(partitions(), 0);
  for (const std::uint32_t partition : wanted) need[partition] = 1;
  unsigned missing = 0;
  for (std::uint32_t p = 0; p < partitions(); ++p) missing += need[p] > 0 && !scheduler_.resident(p);
  // One of them may be in a slot that only the other fits.
  const bool all_anew = missing > 0 && plan_.large_slots > 0;
  for (const std::uint32_t partition : all_anew ? scheduler_.clear() : scheduler_.retire(need, missing))
    slots_.drop(partition);
  begin_loads(need);
  scheduler_.arrive(slots_.wait());
}

void PageLoop::bring_together(std::span<const std::uint32_t> wanted, std::span<const std::uint64_t> waiting,
                              const std::function<void()>& work) {
  hold(wanted);
  work();
  ++stats_.rounds;
  make_room(waiting);
}

std::vector<std::uint32_t> PageLoop::map_some(std::span<const std::uint64_t> waiting) {
  std::vector<std::uint32_t> mapped;
  const Transport transport = graph_.paging.transport;
  if (graph_.paging.shard || !slots_.can_map() || transport == Transport::copied ||
      transport == Transport::file)
    return mapped;
  if (transport == Transport::mapped) {
    for (std::uint32_t p = 0; p < partitions(); ++p) mapped.push_back(p);
    return mapped;
  }
  mapped = transport_.mapped(waiting, steps_);
  std::erase_if(mapped, [&](std::uint32_t p) { return !scheduler_.away(p); });
  return mapped;
}

void PageLoop::work_on(std::span<const std::uint32_t> mapped, std::span<const std::uint64_t> waiting,
                       const Work& work) {
  std::vector<std::uint32_t> here = scheduler_.residents();
  here.insert(here.end(), mapped.begin(), mapped.end());
  std::erase_if(here, [&](std::uint32_t p) { return waiting[p] == 0; });
  if (here.empty()) return;
  for (const std::uint32_t partition : mapped) slots_.map(partition);
  work(here);
  for (const std::uint32_t partition : mapped) slots_.drop(partition);
  ++stats_.rounds;
  stats_.mapped_rounds += !mapped.empty();
}

void PageLoop::count() {
  const Slots::Counters& now = slots_.counters();
  stats_.partition_transfers += now.transfers - std::exchange(transfers_, now.transfers);
  stats_.host_to_device_bytes += now.copied_bytes - std::exchange(copied_bytes_, now.copied_bytes);
  stats_.read_bytes += now.read_bytes - std::exchange(read_bytes_, now.read_bytes);
}

Slots::Published PageLoop::publish_with(std::size_t bytes,
                                        FunctionRef<void(const PageView&, std::byte*)> write) {
  std::vector<std::byte> items(slots_.views().size() * bytes);
  std::byte* next = items.data();
  for (const PageView& page : slots_.views()) write(page, std::exchange(next, next + bytes));
  return slots_.publish(items);
}

}  // namespace sluice

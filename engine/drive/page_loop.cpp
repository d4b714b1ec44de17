#include "engine/drive/page_loop.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exec/link.hpp"

namespace sluice {

namespace {

/// Reads of a list's edges by one visit, about.
double reads_of(const PageColumns& columns) {
  constexpr double kPicks = 8, kSearch = 16;  // of a CTPS
  return kPicks *
         (1 + (columns.alias ? 2 : 0) + (columns.cumulative ? kSearch : 0) + (columns.weights ? 1 : 0));
}

}  // namespace

PageLoop::PageLoop(ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan, RunStats& stats)
    : graph_(graph),
      stats_(stats),
      plan_(std::move(plan)),
      slots_(graph.device, graph.graph.out.offsets.span(), plan_.partitions, pages.columns, pages.sources,
             plan_.slots),
      transport_(plan_.partitions,
                 graph.paging.transport == Transport::automatic && slots_.can_map()
                     ? measure_link(graph.device)
                     : LinkRates{},
                 reads_of(pages.columns)),
      scheduler_(partitions(), plan_.slots, graph.paging.schedule) {
  if (graph.paging.transport == Transport::mapped && !slots_.can_map()) {
    throw UsageError(
        "--transport mapped: needs the edges and their tables in host memory (raise --host-memory, or "
        "use copied or file)");
  }
  stats_.partitions = plan_.partitions.size();
}

void PageLoop::round(std::span<const std::uint64_t> waiting, const Work& work) {
  std::vector<std::uint64_t> away(waiting.begin(), waiting.begin() + partitions());
  const std::vector<std::uint32_t> mapped = map_some(away);
  for (const std::uint32_t partition : mapped) away[partition] = 0;
  for (const PartitionLoad& load : scheduler_.choose(away)) slots_.begin(load.slot, load.partition);
  work_on(mapped, waiting, work);
  slots_.wait();
  scheduler_.arrive();
  // Slots that are empty let the next partitions come while these are worked on.
  const unsigned spare = std::max(1u, plan_.slots / 4);
  for (const std::uint32_t partition : scheduler_.retire(waiting, spare)) slots_.drop(partition);
}

void PageLoop::drain(std::span<const std::uint64_t> waiting, const Work& work) {
  const auto waits = [](std::uint64_t entries) { return entries > 0; };
  while (std::any_of(waiting.begin(), waiting.begin() + partitions(), waits)) round(waiting, work);
}

std::vector<std::uint32_t> PageLoop::map_some(std::span<const std::uint64_t> waiting) {
  std::vector<std::uint32_t> mapped;
  const Transport transport = graph_.paging.transport;
  if (!slots_.can_map() || transport == Transport::copied || transport == Transport::file) return mapped;
  if (transport == Transport::mapped) {
    for (std::uint32_t p = 0; p < partitions(); ++p) mapped.push_back(p);
  } else {
    mapped = transport_.mapped(waiting, 0);
    std::erase_if(mapped, [&](std::uint32_t p) { return !scheduler_.away(p); });
  }
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

}  // namespace sluice

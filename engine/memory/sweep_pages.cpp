#include "engine/memory/sweep_pages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"
#include "partition/even_offsets.hpp"
#include "partition/ranges.hpp"

namespace sluice {

namespace {

/// If almost nothing is free, smaller slots would not help: vertices need more memory.
constexpr std::uint64_t kMinSlotBytes = 4u << 10;
/// Lists whose lengths a thread checks at a time.
constexpr std::uint64_t kListsAtOnce = 1u << 16;

PageColumns columns_of(bool weighted) {
  PageColumns columns;
  columns.weights = weighted;
  return columns;
}

std::uint64_t bytes_of(const SweepRows& rows, bool weighted) {
  return rows.csr.edges * columns_of(weighted).bytes_per_edge();
}

/// Bytes that slots may use.
std::uint64_t slot_capacity(const Device& device, std::uint64_t max_bytes) {
  return without_fixed_bytes(std::min(memory_for_sweep_pages(device), max_bytes));
}

PageColumns columns_of(const SweepRows& rows, bool weighted) {
  PageColumns columns = columns_of(weighted);
  columns.coded = rows.coded != nullptr;
  if (columns.coded) columns.rows = rows.coded->rows();
  return columns;
}

/// Cuts rows into partitions, if slots may use `free` bytes.
PartitionPlan partition_rows(const Device& device, const SweepRows& rows, bool weighted,
                             const PagingOptions& paging, std::uint64_t free) {
  const ListExtents lists(rows.csr, columns_of(rows, weighted), device.threads());
  const std::uint64_t edge = columns_of(weighted).bytes_per_edge(),
                      bytes = rows.coded != nullptr ? lists.total_bytes() : bytes_of(rows, weighted),
                      slot = std::max(kMinSlotBytes, usual_slot_bytes(std::min(free, bytes), bytes)),
                      requested = paging.partitions;
  if (rows.max_degree != 0) {  // offsets do not say where lists will end, and a list is never cut
    const std::uint64_t longest = rows.max_degree * edge;
    return requested != 0 ? PartitionPlan::outline(rows.csr.vertices, requested,
                                                   std::min(bytes, bytes / requested + longest))
                          : PartitionPlan::outline(rows.csr.vertices, (bytes + slot - 1) / slot,
                                                   std::max(std::min(slot, bytes), longest));
  }
  return requested != 0 ? PartitionPlan::of_count(lists.offsets(), lists.bytes(), requested)
                        : PartitionPlan(lists.offsets(), lists.bytes(), slot);
}

PageRequest request_of(const SweepRows& rows, bool weighted) {
  PageRequest request;
  request.columns = columns_of(rows, weighted);
  request.sources = PageSources::of(rows.csr, rows.file, weighted);
  request.sources.coded = rows.coded;
  return request;
}

/// Every rank sweeps partitions of its own rows. The host backend's slots would be host memory as well, so it
/// reads lists in place unless partitions or slots are asked for.
PagingOptions sweep_options(PagingOptions paging, const Device& device, const SweepRows& rows) {
  paging.schedule = SchedulePolicy::workload;
  paging.shard = nullptr;
  const bool unset = paging.transport == Transport::automatic && paging.partitions == 0 && paging.slots == 0;
  if (unset && !device.is_cuda() && rows.file == nullptr) paging.transport = Transport::mapped;
  return paging;
}

[[noreturn]] void throw_too_small(const Device& device, std::uint64_t largest, std::uint64_t free) {
  throw BudgetError(fmt::format(
      "device memory: two slots for partitions of up to {} need {}, but {} are left after the vertices "
      "(raise {}, or use more --partitions)",
      format_size(largest), format_size(kMinSlots * largest + kFixedBytes), format_size(free),
      device.is_cuda() ? "--device-memory" : "--host-memory or --device-memory"));
}

void require_transport(const SweepRows& rows, Transport transport) {
  if (transport == Transport::mapped && rows.file != nullptr)
    throw UsageError("--transport mapped: needs the edges in host memory (raise --host-memory, or use file)");
  if (transport == Transport::file && rows.file == nullptr)
    throw UsageError(
        "--transport file: the lists are in memory (for in-edges convert its edges with --reverse)");
}

/// Plans partitions, and as many slots as fit; no slots if partitions are read in place. A run that is only
/// planned gets as many as it needs.
PagedPlan slots_of(const Device& device, const SweepRows& rows, bool weighted, const PagingOptions& paging,
                   std::uint64_t max_bytes) {
  PagedPlan plan{partition_rows(device, rows, weighted, paging, slot_capacity(device, max_bytes))};
  plan.slots = 0;
  const bool mapped = paging.transport == Transport::mapped;
  if (!device.is_planning())
    require_transport(rows, paging.transport);  // a plan may come before edges are in a file
  if (mapped) return plan;
  const std::uint64_t partitions = plan.partitions.size(), free = slot_capacity(device, max_bytes),
                      largest = std::max<std::uint64_t>(plan.partitions.largest(), 1),
                      needed = std::min(kMinSlots, partitions);
  std::uint64_t slots = std::min(free / largest, partitions);
  if (paging.slots != 0) slots = std::min(slots, std::max(paging.slots, kMinSlots));
  // A plan's sum reports a need above the device's memory, but not one above a part of host memory.
  const bool is_reported =
      device.is_planning() && kFixedBytes + needed * largest > device.memory().available();
  if (slots < needed && !is_reported) throw_too_small(device, largest, free);
  if (device.is_planning()) {
    slots = needed;
    // Look-ups are allocated within the first part.
    device.memory().charge_and_release(kFixedBytes + needed * plan.partitions.largest(), "partitions");
  }
  plan.slots = static_cast<unsigned>(slots);
  return plan;
}

}  // namespace

// The host backend's slots are in host memory, whose ceiling is the lower one if none was given for the
// device.
std::uint64_t memory_for_sweep_pages(const Device& device) {
  const std::uint64_t on_device = device.memory().available();
  return device.is_cuda() ? on_device : std::min(on_device, host_budget().available() / 2);
}

SweepRows SweepRows::of(const CsrView& lists, const EdgeSource* file, bool weighted, std::uint64_t first,
                        std::uint64_t last) {
  CsrView rows = lists;
  rows.vertices = last - first, rows.offsets += first;
  rows.edges = first < last ? rows.offsets[rows.vertices] - rows.offsets[0] : 0;
  if (file != nullptr) rows.targets = nullptr;
  if (file != nullptr || !weighted) rows.weights = nullptr;
  return {rows, file};
}

std::vector<Vertex> long_lists(std::span<const EdgeIndex> offsets, std::uint64_t min_degree,
                               unsigned threads) {
  std::vector<Vertex> found;
  if (const auto even = EvenLists::find(offsets.data()); even && even->longest() < min_degree) return found;
  std::mutex mutex;
  const std::uint64_t lists = offsets.empty() ? 0 : offsets.size() - 1;
  parallel_blocks(threads, lists, kListsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t v = begin; v < end; ++v) {
      if (offsets[v + 1] - offsets[v] < min_degree) continue;
      const std::lock_guard lock(mutex);
      found.push_back(static_cast<Vertex>(v));
    }
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::uint64_t longest_list(std::span<const EdgeIndex> offsets, unsigned threads) {
  if (const auto even = EvenLists::find(offsets.data())) return even->longest();
  const std::uint64_t lists = offsets.empty() ? 0 : offsets.size() - 1;
  std::atomic<std::uint64_t> longest{0};
  parallel_blocks(threads, lists, kListsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t block_longest = 0;
    for (std::uint64_t v = begin; v < end; ++v)
      block_longest = std::max(block_longest, offsets[v + 1] - offsets[v]);
    std::uint64_t known = longest;
    while (known < block_longest && !longest.compare_exchange_weak(known, block_longest)) {
    }
  });
  return longest;
}

OwnedRows::OwnedRows(std::span<const EdgeIndex> offsets, const Communicator* ranks)
    : owners(balanced_ranges(offsets, static_cast<std::uint64_t>(ranks == nullptr ? 1 : ranks->size()))) {
  const auto rank = static_cast<std::uint64_t>(ranks == nullptr ? 0 : ranks->rank());
  first = owners.begin(rank), last = owners.end(rank);
}

bool needs_sweep_pages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t other_bytes) {
  if (paging.partitions > 1 || paging.transport != Transport::automatic) return true;
  if (rows.file != nullptr && !device.is_cuda()) return true;
  return paging.partitions != 1 && bytes_of(rows, weighted) + other_bytes > device.memory().available();
}

SweepPages::SweepPages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& requested, std::uint64_t max_bytes)
    : rows_(rows.csr),
      edge_bytes_(columns_of(weighted).bytes_per_edge()),
      counts_in_place_(device.is_cuda() || requested.transport == Transport::mapped),
      paging_(sweep_options(requested, device, rows)),
      cache_(device, {rows.csr.offsets, rows.csr.vertices + 1}, request_of(rows, weighted),
             slots_of(device, rows, weighted, paging_, max_bytes), paging_, AccessPattern{}) {
  const bool all_in_place = paging_.transport == Transport::mapped,
             may_choose = device.is_cuda() && paging_.transport == Transport::automatic &&
                          rows.file == nullptr && rows.coded == nullptr;
  if (all_in_place || may_choose) choice_.emplace(plan(), edge_bytes_, all_in_place);
}

void SweepPages::for_each(const Waiting& waiting, const Work& work) {
  std::vector<std::uint64_t> counts(size());
  for (std::uint32_t p = 0; p < counts.size(); ++p) counts[p] = waiting(p);
  cache_.sweep(counts, [&](std::span<const std::uint32_t> present) {
    std::vector<SweepPage> pages;
    for (const std::uint32_t p : present) {
      const PageView& page = cache_.page(p);
      pages.push_back({p, begin(p), end(p), page.targets, page.weights, page.coded});
    }
    work(pages);
  });
}

std::uint64_t SweepPages::slot_bytes() const {
  const PagedPlan& plan = cache_.plan();
  return plan.slots == 0 ? 0 : kFixedBytes + plan.slots * plan.partitions.largest();
}

std::vector<bool> SweepPages::choose_in_place(std::span<const ListDemand> demand, bool single_use) {
  if (!choice_) return std::vector<bool>(size());
  std::vector<bool> chosen = choice_->choose(
      demand, [&](std::uint32_t p) { return cache_.resident(p); }, cache_.empty_slots(), single_use);
  std::uint64_t edges = 0;
  for (std::size_t p = 0; counts_in_place_ && p < chosen.size(); ++p)
    edges += chosen[p] ? demand[p].edges : 0;
  in_place_rounds_ += edges > 0;
  in_place_bytes_ += edges * edge_bytes_;
  return chosen;
}

SweepPage SweepPages::in_place(PartitionRun run) const {
  return {run.begin, begin(run.begin), end(run.end - 1), rows_.targets, rows_.weights, {}, true};
}

Traffic SweepPages::traffic() const {
  Traffic traffic = cache_.traffic();
  traffic.rounds += in_place_rounds_, traffic.mapped_rounds += in_place_rounds_;
  traffic.mapped_bytes = in_place_bytes_;
  return traffic;
}

}  // namespace sluice

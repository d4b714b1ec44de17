#include "engine/memory/sweep_pages.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/graph/partition_map.hpp"

namespace sluice {

namespace {

/// Partitions' worth that a budget is cut into: some fill while others are worked on, and a copy is long.
constexpr std::uint64_t kSlots = 16;
/// Smaller copies do not fill the link (DESIGN section 6).
constexpr std::uint64_t kSmallestSlot = 1u << 20;
/// Where next to nothing is free, more partitions than that would not make it fit either.
constexpr std::uint64_t kLeastSlot = 4u << 10;
constexpr std::uint64_t kSlotsNeeded = 2;
/// Look-up tables and the like beside the slots.
constexpr std::uint64_t kFixedBytes = 64u << 10;
constexpr std::uint32_t kNobody = ~0u;

PageColumns columns_of(bool weighted) {
  PageColumns columns;
  columns.weights = weighted;
  return columns;
}

std::uint64_t bytes_of(const SweepRows& rows, bool weighted) {
  return rows.in.edges * columns_of(weighted).bytes_per_edge();
}

/// What slots may take once `taken` bytes more are, and `host_taken` of host memory alone.
std::uint64_t room(const Device& device, std::uint64_t most, std::uint64_t taken = 0,
                   std::uint64_t host_taken = 0) {
  const std::uint64_t available = std::min(memory_for_sweep_pages(device, taken, host_taken), most);
  return available > kFixedBytes ? available - kFixedBytes : 0;
}

/// Bytes of a slot, where `free` bytes can be taken for lists of so many bytes.
std::uint64_t slot_bytes(std::uint64_t free, std::uint64_t edge_bytes) {
  const std::uint64_t share = std::min(free, edge_bytes);
  return std::max({share / kSlots, std::min(kSmallestSlot, share / kSlotsNeeded), kLeastSlot});
}

PartitionPlan cut(const Device& device, const SweepRows& rows, bool weighted, const PagingOptions& paging,
                  std::uint64_t most) {
  const std::span offsets(rows.in.offsets, rows.in.vertices + 1);
  const PartitionBytes bytes{0, columns_of(weighted).bytes_per_edge()};
  if (paging.partitions > 0) return PartitionPlan::of_count(offsets, bytes, paging.partitions);
  return PartitionPlan(offsets, bytes, slot_bytes(room(device, most), bytes_of(rows, weighted)));
}

bool paged(const PagingOptions& paging, bool in_file, std::uint64_t bytes, std::uint64_t available) {
  if (paging.partitions > 1 || paging.transport != Transport::automatic || in_file) return true;
  return paging.partitions != 1 && bytes > available;
}

[[noreturn]] void throw_no_room(const Device& device, std::uint64_t largest, std::uint64_t free) {
  throw BudgetError(fmt::format(
      "device memory: two slots for partitions of up to {} need {}, but {} are left beside the vertices "
      "(raise {}, or ask for more --partitions)",
      format_size(largest), format_size(kSlotsNeeded * largest + kFixedBytes), format_size(free),
      device.is_cuda() ? "--device-memory" : "--host-memory or --device-memory"));
}

}  // namespace

// The host backend's lie in host memory, whose ceiling is the lower one if none was given.
std::uint64_t memory_for_sweep_pages(const Device& device, std::uint64_t taken, std::uint64_t host_taken) {
  const auto beside = [](std::uint64_t bytes, std::uint64_t others) {
    return bytes > others ? bytes - others : 0;
  };
  const std::uint64_t there = beside(device.memory().available(), taken);
  if (device.is_cuda()) return there;
  return std::min(there, beside(host_accountant().available(), taken + host_taken) / 2);
}

std::uint64_t longest_list(std::span<const EdgeIndex> offsets) {
  EdgeIndex longest = 0;
  for (std::size_t v = 1; v < offsets.size(); ++v) longest = std::max(longest, offsets[v] - offsets[v - 1]);
  return longest;
}

bool needs_sweep_pages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t beside) {
  return paged(paging, rows.file != nullptr && !device.is_cuda(), bytes_of(rows, weighted) + beside,
               device.memory().available());
}

SweepPagePlan plan_sweep_pages(const Device& device, const SweepLists& lists, const SweepTaken& taken,
                               bool in_file, const PagingOptions& paging, std::uint64_t most) {
  const std::uint64_t state = taken.device_bytes, host_taken = state + taken.host_bytes;
  const std::uint64_t there = std::max(device.memory().available(), state) - state,
                      on_host = std::max(host_accountant().available(), host_taken) - host_taken;
  if (!paged(paging, in_file, lists.bytes, device.is_cuda() ? there : std::min(there, on_host)))
    return {1, device.is_cuda() ? lists.bytes : 0};
  const std::uint64_t free = room(device, most, state, taken.host_bytes),
                      slot = slot_bytes(free, lists.bytes);
  const std::uint64_t partitions =
      paging.partitions != 0 ? paging.partitions : (lists.bytes + slot - 1) / slot;
  if (paging.transport == Transport::mapped) return {partitions, 0, lists.bytes};
  // A list is never cut.
  const std::uint64_t largest =
      paging.partitions != 0
          ? std::min(lists.bytes, lists.bytes / std::max<std::uint64_t>(partitions, 1) + lists.longest_bytes)
          : std::max(std::min(slot, lists.bytes), lists.longest_bytes);
  const std::uint64_t needed = largest * std::min(partitions, kSlotsNeeded);
  // What is more than the device has, the plan's sum says; a part of the host's memory is none's.
  if (needed > free && kFixedBytes + needed <= there) throw_no_room(device, largest, free);
  return {partitions, kFixedBytes + needed, lists.bytes};
}

SweepPages::SweepPages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t most)
    : rows_(rows), plan_(cut(device, rows, weighted, paging, most)) {
  // Slots are filled from these columns; nothing is written through the view.
  sources_.columns.targets = const_cast<Vertex*>(rows_.in.targets);
  sources_.columns.weights = const_cast<float*>(rows_.in.weights);
  sources_.file = rows_.file;
  sources_.weighted = weighted;
  mapped_ = paging.transport == Transport::mapped;
  if (mapped_ && rows_.file != nullptr) {
    throw UsageError("--transport mapped: needs the edges in host memory (raise --host-memory, or use file)");
  }
  if (paging.transport == Transport::file && rows_.file == nullptr)
    throw UsageError(
        "--transport file: the lists are in memory (for in-edges convert the graph with --reverse)");
  if (mapped_) return;
  const std::uint64_t largest = std::max<std::uint64_t>(plan_.largest(), 1), free = room(device, most);
  std::uint64_t slots = std::min(free / largest, plan_.size());
  if (paging.slots != 0) slots = std::min(slots, std::max(paging.slots, kSlotsNeeded));
  if (slots < std::min(kSlotsNeeded, plan_.size())) {
    throw_no_room(device, largest, free);
  }
  if (plan_.size() == 0) return;
  slots_ =
      std::make_unique<Slots>(device, std::span(rows_.in.offsets, rows_.in.vertices + 1), plan_,
                              columns_of(weighted), sources_, Slots::Count{static_cast<unsigned>(slots), 0});
  held_.assign(slots, kNobody);
  const auto all = static_cast<unsigned>(slots);
  pinned_ = slots == plan_.size() ? all : all - 2 * std::max(1u, all / 4);
}

OwnershipView SweepPages::device_ranges(const Device& device) {
  if (slots_ != nullptr) return slots_->owners();
  ranges_ = DeviceOwnership(device, plan_.ranges(), "the partition look-up");
  return ranges_.view();
}

void SweepPages::for_each(const Waiting& waiting, const Work& work) {
  std::vector<std::uint32_t> away;
  for (std::uint32_t p = 0; p < plan_.size(); ++p) {
    if (waiting(p) > 0 && std::find(held_.begin(), held_.end(), p) == held_.end()) away.push_back(p);
  }
  std::stable_sort(away.begin(), away.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return waiting(a) > waiting(b); });
  if (mapped_ || plan_.size() == 0) return work_on(away, work);
  // Slots to fill: empty ones first, for what is not wanted now may be again.
  std::vector<unsigned> free, here;
  for (const bool empty : {true, false}) {
    for (unsigned slot = 0; slot < held_.size(); ++slot) {
      if ((held_[slot] == kNobody) == empty && (empty || waiting(held_[slot]) == 0)) free.push_back(slot);
    }
  }
  // Slots to work on: those first that are filled anew then.
  const auto list_wanted = [&](unsigned begin, std::size_t end) {
    for (unsigned slot = begin; slot < end; ++slot) {
      if (held_[slot] != kNobody && waiting(held_[slot]) > 0) here.push_back(slot);
    }
  };
  list_wanted(pinned_, held_.size());
  list_wanted(0, pinned_);
  const auto passing = static_cast<unsigned>(held_.size()) - pinned_;
  std::size_t next = 0, filled = 0;
  unsigned under_way = 0;
  for (;;) {
    for (; filled < free.size() && next < away.size(); ++filled, ++under_way) {
      const unsigned slot = free[filled];
      if (held_[slot] != kNobody) slots_->drop(held_[slot]);
      held_[slot] = away[next++];
      slots_->begin(slot, held_[slot]);
    }
    if (here.empty()) {
      if (under_way == 0) return;
      // Half of the slots go on filling while what has come is worked on: the link does not rest.
      for (const std::uint32_t p : slots_->wait(passing / 2)) {
        here.push_back(static_cast<unsigned>(std::find(held_.begin(), held_.end(), p) - held_.begin()));
        --under_way;
      }
    }
    const bool hurry = next < away.size() || under_way > 0;
    const std::size_t now =
        hurry ? std::min<std::size_t>(here.size(), std::max(1u, passing / 4)) : here.size();
    std::vector<std::uint32_t> partitions;
    for (std::size_t i = 0; i < now; ++i) {
      partitions.push_back(held_[here[i]]);
      if (here[i] >= pinned_) free.push_back(here[i]);
    }
    here.erase(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(now));
    work_on(partitions, work);
  }
}

void SweepPages::work_on(std::span<const std::uint32_t> partitions, const Work& work) const {
  if (partitions.empty()) return;
  std::vector<SweepPage> pages;
  for (const std::uint32_t p : partitions)
    pages.push_back(page(p, mapped_ ? sources_.columns : slots_->page(p)));
  work(pages);
}

SweepPage SweepPages::page(std::uint32_t partition, const PageView& view) const {
  return {partition, plan_.begin(partition), plan_.end(partition), view.targets, view.weights};
}

SweepTraffic SweepPages::traffic() const {
  SweepTraffic traffic;
  traffic.partitions = plan_.size();
  if (slots_ == nullptr) return traffic;
  traffic.transfers = slots_->counters().transfers;
  traffic.host_to_device_bytes = slots_->counters().copied_bytes;
  traffic.read_bytes = slots_->counters().read_bytes;
  return traffic;
}

}  // namespace sluice

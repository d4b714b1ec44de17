#include "engine/rank/sweep_pages.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/residency/page_map.hpp"

namespace sluice {

namespace {

/// Partitions' worth that a budget is cut into: some fill while others are worked on, and a copy is long.
constexpr std::uint64_t kSlots = 16;
/// Smaller copies do not fill the link (DESIGN section 6).
constexpr std::uint64_t kSmallestSlot = 1u << 20;
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

/// What slots may take; the host backend's lie in host memory, whose ceiling is the lower one if none was
/// given.
std::uint64_t room(const Device& device, std::uint64_t most) {
  if (!device.is_cuda()) most = std::min(most, host_accountant().available() / 2);
  const std::uint64_t available = std::min(device.memory().available(), most);
  return available > kFixedBytes ? available - kFixedBytes : 0;
}

/// Bytes of a slot, where `free` bytes can be taken for lists of so many bytes.
std::uint64_t slot_bytes(std::uint64_t free, std::uint64_t edge_bytes) {
  const std::uint64_t share = std::min(free, edge_bytes);
  return std::max({share / kSlots, std::min(kSmallestSlot, share / kSlotsNeeded), std::uint64_t{1}});
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

}  // namespace

bool needs_sweep_pages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t beside) {
  return paged(paging, rows.file != nullptr, bytes_of(rows, weighted) + beside, device.memory().available());
}

SweepPagePlan plan_sweep_pages(const Device& device, std::uint64_t edge_bytes, std::uint64_t state_bytes,
                               bool in_file, const PagingOptions& paging, std::uint64_t most) {
  const std::uint64_t available = room(device, most),
                      free = available > state_bytes ? available - state_bytes : 0;
  if (!paged(paging, in_file, edge_bytes, free)) return {1, device.is_cuda() ? edge_bytes : 0};
  const std::uint64_t slot = slot_bytes(free, edge_bytes);
  const std::uint64_t partitions =
      paging.partitions != 0 ? paging.partitions : (edge_bytes + slot - 1) / slot;
  if (paging.transport == Transport::mapped) return {partitions, 0};
  return {partitions, kFixedBytes + kSlotsNeeded * (edge_bytes / std::max<std::uint64_t>(partitions, 1))};
}

SweepPages::SweepPages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t most)
    : rows_(rows), plan_(cut(device, rows, weighted, paging, most)) {
  // Slots are filled from these columns; nobody writes through the view.
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
    throw BudgetError(fmt::format(
        "device memory: two slots for partitions of up to {} need {}, but {} are left beside the vertices "
        "(raise {}, or ask for more --partitions)",
        format_size(largest), format_size(kSlotsNeeded * largest + kFixedBytes), format_size(free),
        device.is_cuda() ? "--device-memory" : "--host-memory or --device-memory"));
  }
  if (plan_.size() == 0) return;
  slots_ =
      std::make_unique<Slots>(device, std::span(rows_.in.offsets, rows_.in.vertices + 1), plan_,
                              columns_of(weighted), sources_, Slots::Count{static_cast<unsigned>(slots), 0});
  held_.assign(slots, kNobody);
  const auto all = static_cast<unsigned>(slots);
  const unsigned half = slots == plan_.size() ? 0 : std::max(1u, all / 4);
  pinned_ = {0, all - 2 * half};
  left_ = {pinned_.end, pinned_.end + half};
  right_ = {left_.end, all};
}

void SweepPages::for_each(const Waiting& waiting, const Work& work) {
  std::vector<std::uint32_t> away;
  for (std::uint32_t p = 0; p < plan_.size(); ++p) {
    if (waiting(p) > 0 && std::find(held_.begin(), held_.end(), p) == held_.end()) away.push_back(p);
  }
  std::stable_sort(away.begin(), away.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return waiting(a) > waiting(b); });
  if (mapped_ || plan_.size() == 0) return work_on(away, work);
  std::size_t next = 0;
  const auto fill = [&](const SlotRange& range, bool keep_wanted) {
    std::vector<std::uint32_t> coming;
    // Empty slots first: what is not wanted now may be again.
    for (const bool empty : {true, false}) {
      for (unsigned slot = range.begin; slot < range.end && next < away.size(); ++slot) {
        if ((held_[slot] == kNobody) != empty) continue;
        const bool just_filled = std::find(coming.begin(), coming.end(), held_[slot]) != coming.end();
        if (!empty && (just_filled || (keep_wanted && waiting(held_[slot]) > 0))) continue;
        if (!empty) slots_->drop(held_[slot]);
        held_[slot] = away[next++];
        slots_->begin(slot, held_[slot]);
        coming.push_back(held_[slot]);
      }
    }
    return coming;
  };
  const auto wanted_in = [&](const SlotRange& range) {
    auto partitions = held_in(range);
    std::erase_if(partitions, [&](std::uint32_t p) { return waiting(p) == 0; });
    return partitions;
  };
  // What is in a group that is filled was worked on just before: the left one at once, the right one with
  // what is pinned, while the left one fills. The right one fills first where only the left one has something
  // that was wanted, and so may be again.
  const auto in_left = wanted_in(left_);
  work_on(in_left, work);
  std::vector<std::uint32_t> now = wanted_in({pinned_.begin, pinned_.end});
  const auto in_right = wanted_in(right_);
  now.insert(now.end(), in_right.begin(), in_right.end());
  std::vector<std::uint32_t> coming = fill(pinned_, true);
  for (bool left = in_left.empty() || !in_right.empty();
       !now.empty() || !coming.empty() || next < away.size(); left = !left) {
    const auto filling = fill(left ? left_ : right_, false);
    coming.insert(coming.end(), filling.begin(), filling.end());
    work_on(now, work);
    slots_->wait();
    now = std::exchange(coming, {});
  }
}

std::vector<std::uint32_t> SweepPages::held_in(const SlotRange& range) const {
  std::vector<std::uint32_t> partitions(held_.begin() + range.begin, held_.begin() + range.end);
  std::erase(partitions, kNobody);
  return partitions;
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

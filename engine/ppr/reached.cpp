#include "engine/ppr/reached.hpp"

#include <algorithm>
#include <bit>

namespace sluice::ppr {

namespace {

constexpr std::uint64_t kFirstEntries = 64;
constexpr const char* kPurpose = "vertices that a query reached";

/// Slots of a table for this many entries; if each vertex has a slot, the graph's number of vertices.
std::uint64_t slots_for(std::uint64_t entries, std::uint64_t vertices) {
  return std::min(2 * entries, std::max<std::uint64_t>(vertices, 1));
}

std::uint64_t capacity_after(std::uint64_t capacity, std::uint64_t vertices) {
  return std::min(2 * capacity, std::max<std::uint64_t>(vertices, 1));
}

std::uint64_t first_capacity(std::uint64_t vertices) {
  return std::min(kFirstEntries, std::max<std::uint64_t>(vertices, 1));
}

}  // namespace

template <class M>
ReachedVertices<M>::ReachedVertices(const Device& device, std::uint64_t vertices)
    : device_(device), vertices_(vertices) {
  entries_ = Buffer<Entry>(device, first_capacity(vertices), kPurpose);
  make_table(entries_.size());
}

template <class M>
void ReachedVertices<M>::make_table(std::uint64_t entries) {
  const std::uint64_t slots = slots_for(entries, vertices_);
  direct_ = slots < 2 * entries;
  table_ = Buffer<std::uint32_t>();
  table_ = Buffer<std::uint32_t>(device_, slots, kPurpose);
  if (!device_.is_planning()) std::fill_n(table_.data(), slots, kEmpty);
  // A hash table has a power of two of slots. A direct slot is the vertex's own, so the next is never tried.
  mask_ = direct_ ? 0 : static_cast<std::uint32_t>(slots - 1);
  shift_ = 64 - std::countr_zero(std::max<std::uint64_t>(slots, 2));
}

template <class M>
std::uint32_t ReachedVertices<M>::add(Vertex vertex, std::uint32_t slot) {
  if (size_ == entries_.size()) {
    grow();
    return number_of(vertex);
  }
  table_.data()[slot] = size_;
  Entry& entry = entries_.data()[size_];
  entry = Entry{};
  entry.vertex = vertex;
  entry.slot = slot;
  return size_++;
}

template <class M>
void ReachedVertices<M>::grow() {
  Buffer<Entry> larger(device_, capacity_after(entries_.size(), vertices_), kPurpose);
  std::copy_n(entries_.data(), size_, larger.data());
  entries_ = std::move(larger);
  make_table(entries_.size());
  for (std::uint32_t number = 0; number < size_; ++number) insert_entry(number);
}

/// Inserts an entry that the table does not contain.
template <class M>
void ReachedVertices<M>::insert_entry(std::uint32_t number) {
  Entry& entry = entries_.data()[number];
  std::uint32_t slot = first_slot(entry.vertex);
  while (table_.data()[slot] != kEmpty) slot = (slot + 1) & mask_;
  table_.data()[slot] = number;
  entry.slot = slot;
}

template <class M>
void ReachedVertices<M>::keep_first(std::uint32_t count) {
  clear();
  size_ = count;
  for (std::uint32_t number = 0; number < size_; ++number) insert_entry(number);
}

template <class M>
void ReachedVertices<M>::clear() {
  for (const Entry& entry : *this) table_.data()[entry.slot] = kEmpty;
  size_ = 0;
}

template <class M>
std::uint64_t ReachedVertices<M>::peak_bytes(std::uint64_t reached, std::uint64_t vertices) {
  std::uint64_t capacity = first_capacity(vertices), before = 0;
  while (capacity < reached) {
    before = capacity;
    capacity = capacity_after(capacity, vertices);
  }
  // While entries move to larger memory, the old memory and the smaller table exist too.
  const std::uint64_t moving = (before + capacity) * sizeof(Entry) + slots_for(before, vertices) * 4;
  return std::max(moving, capacity * sizeof(Entry) + slots_for(capacity, vertices) * 4);
}

template class ReachedVertices<Mass>;
template class ReachedVertices<CoarseMass>;

}  // namespace sluice::ppr

// The vertices that one query has reached, with their state: a sparse vector that grows with the query, not
// with the graph.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/ppr/mass.hpp"

namespace sluice::ppr {

/// A vertex that a query has reached. One look-up finds all of it in half of a cache line. M: Mass, or
/// CoarseMass.
template <class M>
struct Reached {
  M score = 0;
  M residual = 0;  ///< residual: mass to be split
  M moving = 0;   ///< mass that follows the edges in this round
  Vertex vertex = 0;
  std::uint32_t slot = 0;  ///< of the table
};

/// Numbers vertices in the order in which they were first reached. An open-addressed table, at most half
/// full, finds them. Once it would be as large as the graph, it has one slot per vertex instead.
template <class M>
class ReachedVertices {
 public:
  using Entry = Reached<M>;

  ReachedVertices(const Device& device, std::uint64_t vertices);

  std::uint32_t size() const { return size_; }
  Entry& operator[](std::uint32_t number) { return entries_.data()[number]; }
  const Entry& operator[](std::uint32_t number) const { return entries_.data()[number]; }
  Entry* begin() { return entries_.data(); }
  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + size_; }
  Entry* end() { return entries_.data() + size_; }

  /// Returns the number of the vertex, added with an empty entry if new. The entry stays in place until the
  /// next vertex is added. Throws BudgetError.
  std::uint32_t number_of(Vertex vertex) {
    for (std::uint32_t slot = first_slot(vertex);; slot = (slot + 1) & mask_) {
      const std::uint32_t number = table_.data()[slot];
      if (number == kEmpty) return add(vertex, slot);
      if (entries_.data()[number].vertex == vertex) return number;
    }
  }
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// Returns the number of the vertex; kNone if the query has not reached it.
  std::uint64_t find(Vertex vertex) const {
    for (std::uint32_t slot = first_slot(vertex);; slot = (slot + 1) & mask_) {
      const std::uint32_t number = table_.data()[slot];
      if (number == kEmpty) return kNone;
      if (entries_.data()[number].vertex == vertex) return number;
    }
  }
  /// Forgets all vertices, in time that grows with their number. Entries may have been reordered before.
  void clear();
  /// Forgets all but the first `count` entries. Entries may have been reordered before.
  void keep_first(std::uint32_t count);

  /// Peak bytes for this many vertices, counted from an empty table.
  static std::uint64_t peak_bytes(std::uint64_t reached, std::uint64_t vertices);

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

  std::uint32_t first_slot(Vertex vertex) const {
    return direct_ ? vertex : static_cast<std::uint32_t>((vertex * 0x9e3779b97f4a7c15u) >> shift_);
  }
  std::uint32_t add(Vertex vertex, std::uint32_t slot);
  void grow();
  void make_table(std::uint64_t entries);
  void insert_entry(std::uint32_t number);

  const Device& device_;
  std::uint64_t vertices_;
  Buffer<Entry> entries_;
  Buffer<std::uint32_t> table_;
  std::uint32_t size_ = 0, mask_ = 0;
  int shift_ = 0;
  bool direct_ = false;
};

}  // namespace sluice::ppr

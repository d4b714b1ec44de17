// The wide layout: an edge carries what the next step needs, so that a walk makes one dependent read a step.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice {

/// A list's offset in 40 bits and its degree in 24.
struct PackedRow {
  std::uint64_t bits = 0;

  static constexpr EdgeIndex kMaxOffset = (EdgeIndex{1} << 40) - 1;
  static constexpr std::uint32_t kMaxDegree = (1u << 24) - 1;

  SLUICE_HD static PackedRow of(const Row& row) { return {row.offset << 24 | row.degree}; }
  SLUICE_HD Row row() const { return {bits >> 24, static_cast<std::uint32_t>(bits & kMaxDegree)}; }
};

/// An edge with its target's row: 16 bytes, read at once.
struct alignas(16) WideEdge {
  PackedRow row;
  Vertex target = kNoVertex;
  std::uint32_t unused = 0;
};

/// The same in 8 bytes, if target, offset and degree fit: random reads of a smaller array are faster. A
/// degree that its bits cannot hold is looked up; such a row is read so often that a cache holds it.
struct EdgePacking {
  std::uint32_t vertex_bits = 0;
  std::uint32_t offset_bits = 0;

  static constexpr std::uint32_t kMinDegreeBits = 12;  ///< with fewer, too many degrees would be looked up

  static EdgePacking of(std::uint64_t vertices, std::uint64_t edges) {
    const auto bits = [](std::uint64_t below) { return static_cast<std::uint32_t>(std::bit_width(below)); };
    return {bits(vertices), bits(edges)};
  }
  bool worthwhile() const { return vertex_bits + offset_bits + kMinDegreeBits <= 64; }

  SLUICE_HD std::uint64_t max_degree() const { return ~std::uint64_t{0} >> (vertex_bits + offset_bits); }
  SLUICE_HD std::uint64_t pack(Vertex target, const Row& row) const {
    const std::uint64_t degree = row.degree < max_degree() ? row.degree : max_degree();
    return target | row.offset << vertex_bits | degree << (vertex_bits + offset_bits);
  }
  SLUICE_HD Vertex target(std::uint64_t bits) const {
    return static_cast<Vertex>(bits & ((std::uint64_t{1} << vertex_bits) - 1));
  }
  SLUICE_HD Row row(std::uint64_t bits, const GraphView& graph) const {
    const std::uint64_t degree = bits >> (vertex_bits + offset_bits);
    if (degree == max_degree()) return graph.row(target(bits));
    return {bits >> vertex_bits & ((std::uint64_t{1} << offset_bits) - 1),
            static_cast<std::uint32_t>(degree)};
  }
};

/// An alias slot with both targets and their rows: 32 bytes, one sector.
struct alignas(32) WideAlias {
  std::uint64_t threshold = 0;  ///< the slot's own entry where random < threshold (or own == other)
  PackedRow own_row, other_row;
  Vertex own = kNoVertex;  ///< kNoVertex: the list has no entry of positive bias
  Vertex other = kNoVertex;
};

static_assert(sizeof(WideEdge) == 16 && sizeof(WideAlias) == 32);

}  // namespace sluice

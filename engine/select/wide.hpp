// The wide layout: an edge carries what the next step needs, so that a walk makes one dependent read a step.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/select/graph_view.hpp"

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

/// An alias slot with both targets and their rows: 32 bytes, one sector.
struct alignas(32) WideAlias {
  std::uint64_t threshold = 0;  ///< the slot's own entry where random < threshold (or own == other)
  PackedRow own_row, other_row;
  Vertex own = kNoVertex;       ///< kNoVertex: the list has no entry of positive bias
  Vertex other = kNoVertex;
};

static_assert(sizeof(WideEdge) == 16 && sizeof(WideAlias) == 32);

}  // namespace sluice

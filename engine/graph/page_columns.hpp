// The columns of a partition's edges that a run transfers to the device.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/graph/wide.hpp"

namespace sluice {

struct CodedRow;

/// Which columns of edges a run reads.
struct PageColumns {
  /// Coded lists (EliasFano) instead of targets; the only column beside them may be coded alias slots
  /// (CodedSlots).
  bool coded = false;
  const CodedRow* rows = nullptr;  ///< [vertices + 1] of the coded lists, if known already
  bool weights = false;
  bool cumulative = false;
  bool alias = false;
  bool wide_alias = false;

  std::uint64_t bytes_per_edge() const {
    return sizeof(Vertex) + (weights ? sizeof(float) : 0) + (cumulative ? sizeof(std::uint64_t) : 0) +
           (alias ? sizeof(std::uint64_t) + sizeof(std::uint32_t) : 0) + (wide_alias ? sizeof(WideAlias) : 0);
  }
};

}  // namespace sluice

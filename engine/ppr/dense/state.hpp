// State of queries in dense rows: a row per vertex, a column per query; on a GPU, a lane per column. If a
// query reaches much of a graph, this is smaller than a table of its vertices, and rows are read whole.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/ppr/mass.hpp"

namespace sluice::ppr {

/// Queries per group, and columns of its rows; less if fewer are asked.
inline constexpr std::uint32_t kDenseWidth = 32;
/// The same on the host: a cache line of masses.
inline constexpr std::uint32_t kHostDenseWidth = 8;

/// Counts that the lanes of a query share. The sums of a pass are read in the next one, and cleared in the
/// one after.
struct DenseCounts {
  Mass returning[3] = {};  ///< from vertices without out-edges
  Mass sent[3] = {};       ///< along edges; if the run has a tolerance
  std::uint64_t edges = 0;
  std::uint64_t begin = 0;  ///< nanoseconds
};

/// The size of a group's state.
struct DenseShape {
  std::uint64_t vertices = 0;
  std::uint32_t width = kDenseWidth;

  /// Per vertex and column: the share of each edge in this pass and in the last, and the score.
  std::uint64_t masses() const { return 3 * vertices * width; }
  /// Per vertex, words with a bit per query: sends in this or the last pass, was reached, has a seed here.
  std::uint64_t words() const { return 4 * vertices; }
  std::uint64_t group_bytes() const { return masses() * sizeof(Mass) + words() * sizeof(std::uint32_t); }
  std::uint64_t query_bytes() const { return (group_bytes() + width - 1) / width; }
  /// Bytes of a group with its counts.
  std::uint64_t bytes() const {
    return group_bytes() + width * sizeof(DenseCounts) + 2 * sizeof(std::uint32_t);
  }
};

/// Groups that run at once.
struct DenseFit {
  DenseShape shape;
  std::uint64_t groups = 0;  ///< 0: not one query fits

  /// For `queries` queries: as many groups as keep a GPU busy and fit `memory` bytes. A single group is as
  /// narrow as possible.
  static DenseFit of(std::uint64_t vertices, std::uint64_t queries, std::uint64_t memory);
  /// On the host: a group for each of `workers` workers, or for as many as fit `memory`; each takes
  /// `extra_bytes` bytes more. Rows are no wider than a worker's part of the queries.
  static DenseFit on_host(std::uint64_t vertices, std::uint64_t queries, std::uint64_t workers,
                          std::uint64_t extra_bytes, std::uint64_t memory);
  std::uint64_t bytes() const { return groups * shape.bytes(); }
};

/// The state of a group; trivially copyable.
struct DenseGroupView {
  Mass* masses = nullptr;
  std::uint32_t* words = nullptr;
  std::uint64_t vertices = 0, width = 0;

  SLUICE_HD static DenseGroupView of(Mass* masses, std::uint32_t* words, const DenseShape& shape,
                                     std::uint64_t group) {
    return {masses + group * 3 * shape.vertices * shape.width, words + group * 4 * shape.vertices,
            shape.vertices, shape.width};
  }

  /// [vertices, width] a mass, or a double per weight; set where a query sends.
  SLUICE_HD Mass* shares(std::uint32_t pass) const { return masses + (pass & 1) * vertices * width; }
  /// [vertices, width] set where a query has been.
  SLUICE_HD Mass* scores() const { return masses + 2 * vertices * width; }
  SLUICE_HD std::uint32_t* sending(std::uint32_t pass) const { return words + (pass & 1) * vertices; }
  SLUICE_HD std::uint32_t* reached() const { return words + 2 * vertices; }
  SLUICE_HD std::uint32_t* seeds() const { return words + 3 * vertices; }
};

}  // namespace sluice::ppr

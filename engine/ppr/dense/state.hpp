// What queries side by side work in: a row a vertex, a column a query; on a GPU, one lane each. Where a query
// reaches much of a graph, this is smaller than a table of what it reached, and its rows are read whole.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/ppr/mass.hpp"

namespace sluice::ppr {

/// Queries of a group: its rows are so wide, or narrower where fewer are asked.
inline constexpr std::uint32_t kDenseWidth = 32;
/// The same on the host, a cache line of masses.
inline constexpr std::uint32_t kHostDenseWidth = 8;

/// What the lanes of a query count together; sums of a pass are read in the next and cleared in the one
/// after.
struct DenseCounts {
  Mass returning[3] = {};  ///< of vertices without out-edges
  Mass given[3] = {};      ///< along edges; to a tolerance
  std::uint64_t edges = 0;
  std::uint64_t begin = 0;  ///< nanoseconds
};

/// How large the state of a group is.
struct DenseShape {
  std::uint64_t vertices = 0;
  std::uint32_t width = kDenseWidth;

  /// What each edge of a vertex carries, in this pass and the last, and its score.
  std::uint64_t masses() const { return 3 * vertices * width; }
  /// Words with a bit a query: who sends, in both passes, who has been reached, and whose seed it is.
  std::uint64_t words() const { return 4 * vertices; }
  std::uint64_t group_bytes() const { return masses() * sizeof(Mass) + words() * sizeof(std::uint32_t); }
  std::uint64_t query_bytes() const { return (group_bytes() + width - 1) / width; }
  /// Of a group with all that goes with it.
  std::uint64_t bytes() const {
    return group_bytes() + width * sizeof(DenseCounts) + 2 * sizeof(std::uint32_t);
  }
};

/// Groups that are under way at once.
struct DenseFit {
  DenseShape shape;
  std::uint64_t groups = 0;  ///< 0: not one query fits

  /// For so many queries, as many as keep a GPU busy and fit so many bytes. A single group is as narrow as it
  /// may be.
  static DenseFit of(std::uint64_t vertices, std::uint64_t queries, std::uint64_t memory);
  /// The same on the host: a group for each of so many workers, or for as many as find the memory; `beside`
  /// bytes go with each. Rows are no wider than a worker's part of the queries.
  static DenseFit on_host(std::uint64_t vertices, std::uint64_t queries, std::uint64_t workers,
                          std::uint64_t beside, std::uint64_t memory);
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

  /// [vertices, width] a mass, or a double per weight; written where somebody sends.
  SLUICE_HD Mass* shares(std::uint32_t pass) const { return masses + (pass & 1) * vertices * width; }
  /// [vertices, width] written where somebody has been.
  SLUICE_HD Mass* scores() const { return masses + 2 * vertices * width; }
  SLUICE_HD std::uint32_t* sending(std::uint32_t pass) const { return words + (pass & 1) * vertices; }
  SLUICE_HD std::uint32_t* reached() const { return words + 2 * vertices; }
  SLUICE_HD std::uint32_t* seeds() const { return words + 3 * vertices; }
};

}  // namespace sluice::ppr

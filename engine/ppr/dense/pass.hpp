// Passes over all rows of queries side by side, by one thread of the host: what dense/lanes.cuh does by
// warps, to the same bits. A row is a cache line, so that a random read brings what all columns want.
//
// Both have the formulas of mass.hpp, and no more in common: a thread has all columns of a row at once, in
// loops without a branch that compilers turn into vectors, where lanes have one each and meet in ballots; and
// here each column is at a step of its own, for queries come from tables.
//
// 64 queries to 1e-8 on dblp-2010 took two threads 197 s from tables, and 13.2 s side by side (commit
// 58b31862).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/seeds.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// What the rows of a group read beside its state.
struct DenseGraph {
  CsrView out, in;                 ///< weights are null where mass splits evenly
  const double* totals = nullptr;  ///< [vertices] sums of weights
};

/// One word for each column.
using DenseRow = std::array<std::uint64_t, kHostDenseWidth>;

/// What a pass gets for its columns, and what it finds.
struct alignas(64) HostTurn {
  DenseRow follow{};   ///< Continuation::follow, or 0 where nothing goes on
  DenseRow rounded{};  ///< 1 where what is followed was rounded down
  DenseRow scored{};   ///< all bits where what stays is score, else none
  DenseRow going{};    ///< all bits where mass goes on, else none
  DenseRow each{};     ///< mass that returns to every vertex
  bool to_each = false, to_seeds = false;
  std::uint32_t columns = 0;  ///< bits of those that are asked

  DenseRow followed{};  ///< along edges
  DenseRow returned{};  ///< from vertices without out-edges
  DenseRow edges{};
};

/// A seed as rows come to it.
struct ColumnSeed {
  Vertex vertex = 0;
  Mass mass = 0;  ///< that returns to it in this pass
  std::uint32_t column = 0, number = 0;
};

class DensePasses {
 public:
  virtual ~DensePasses() = default;
  /// Where `sending` names a row of this pass, masses wait in place of shares: they are split.
  virtual void begin(std::uint32_t pass, HostTurn& turn) const = 0;
  /// Pulls what was sent in the pass before, and splits it. `seeds` are in order of vertex.
  virtual void run(std::uint32_t pass, HostTurn& turn, std::span<const ColumnSeed> seeds) const = 0;
  /// What a column sent along edges in a pass.
  virtual Mass given(std::uint32_t pass, std::uint32_t column) const = 0;
};

/// For rows of `width` columns, a power of two. Keeps a reference to the graph.
std::unique_ptr<DensePasses> make_dense_passes(const DenseGraph& graph, const DenseGroupView& group,
                                               std::uint32_t width);

}  // namespace sluice::ppr

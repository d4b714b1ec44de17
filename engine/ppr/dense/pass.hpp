// Passes over all dense rows, by one thread of the host: what dense/lanes.cuh does by warps, to the same
// bits. A row is a cache line, so that one random read fetches all columns.
//
// The two share the formulas of mass.hpp, and no more. A thread has all columns of a row at once, in loops
// without a branch that compilers turn into vectors; lanes have one column each, and use ballots. Here each
// column is at a step of its own, because queries come from tables.
//
// 64 queries to 1e-8 on dblp-2010 took two threads 197 s in tables, and 13.2 s in dense rows (commit
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

/// What a group reads beside its state.
struct DenseGraph {
  CsrView out, in;                 ///< weights are null if mass splits evenly
  const double* totals = nullptr;  ///< [vertices] sums of weights
};

/// One word per column.
using DenseRow = std::array<std::uint64_t, kHostDenseWidth>;

/// Input of a pass per column, and its results.
struct alignas(64) HostPassState {
  DenseRow follow{};   ///< Continuation::follow; 0 if nothing goes on
  DenseRow rounding{};       ///< 1 if followed mass was rounded down
  DenseRow score_mask{};     ///< all bits if kept mass is score, else none
  DenseRow continue_mask{};  ///< all bits if mass goes on, else none
  DenseRow per_vertex{};     ///< mass that returns to every vertex
  bool to_all_vertices = false, to_seeds = false;
  std::uint32_t columns = 0;  ///< bits of the active columns

  DenseRow followed{};  ///< along edges
  DenseRow returned{};  ///< from vertices without out-edges
  DenseRow edges{};
};

/// A seed of a column, in the order of rows.
struct ColumnSeed {
  Vertex vertex = 0;
  Mass mass = 0;  ///< that returns to it in this pass
  std::uint32_t column = 0, number = 0;
};

class DensePasses {
 public:
  virtual ~DensePasses() = default;
  /// Splits the masses of rows that `sending` marks for this pass: those hold masses in place of shares.
  virtual void begin(std::uint32_t pass, HostPassState& state) const = 0;
  /// Pulls the shares of the last pass, and splits the sums. `seeds` are in order of vertex.
  virtual void run(std::uint32_t pass, HostPassState& state, std::span<const ColumnSeed> seeds) const = 0;
  /// The mass that a column sent along edges in a pass.
  virtual Mass sent_mass(std::uint32_t pass, std::uint32_t column) const = 0;
};

/// Passes for rows of `width` columns, a power of two. Keeps a reference to the graph.
std::unique_ptr<DensePasses> make_dense_passes(const DenseGraph& graph, const DenseGroupView& group,
                                               std::uint32_t width);

}  // namespace sluice::ppr

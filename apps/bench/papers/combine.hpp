// Fig. 5 of SIMD-X: push rounds that combine values at their targets with or without atomics.
#pragma once

#include <cstdint>

#include "engine/acc/acc_graph.hpp"

namespace sluice::bench::papers {

enum class PushCombine {
  atomics,  ///< one atomic operation per value, as in the engine's push rounds
  sorted,   ///< values are written with their targets, sorted by target, and combined
};

struct PushRounds {
  double seconds = 0, rounds = 0;
};

/// Each step of a round is one launch; only the combine differs. `graph` is complete. Results are compared
/// with those of bfs(), sssp() and core_numbers(). Throw RunError if they differ, and BudgetError if the
/// values of a round exceed memory or 2^32 - 1.
PushRounds push_bfs(const acc::AccGraph& graph, Vertex source, PushCombine combine);
PushRounds push_sssp(const acc::AccGraph& graph, Vertex source, PushCombine combine);
/// Finds the k-core.
PushRounds push_kcore(const acc::AccGraph& graph, std::uint32_t k, PushCombine combine);

}  // namespace sluice::bench::papers

// Fig. 5 of SIMD-X: rounds that push, whose values meet their targets by atomics or without.
#pragma once

#include <cstdint>

#include "engine/acc/acc_graph.hpp"

namespace sluice::bench::papers {

enum class PushCombine {
  atomics,  ///< an atomic operation a value, as rounds of the engine that push
  sorted,   ///< values are written beside their targets, brought in order of these, and joined
};

struct PushRounds {
  double seconds = 0, rounds = 0;
};

/// A launch for each step of a round, the same but for the combine. `graph` is complete. What is found is
/// compared with bfs(), sssp() and core_numbers(). Throw RunError where it differs, BudgetError where the
/// values of a round are more than memory or 2^32 - 1.
PushRounds push_bfs(const acc::AccGraph& graph, Vertex source, PushCombine combine);
PushRounds push_sssp(const acc::AccGraph& graph, Vertex source, PushCombine combine);
/// Of the k-core.
PushRounds push_kcore(const acc::AccGraph& graph, std::uint32_t k, PushCombine combine);

}  // namespace sluice::bench::papers

// Belief propagation: the model, the solver, and its result.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/host_array.hpp"

namespace sluice::acc {

/// A pairwise Markov random field on an undirected graph: an edge's factor is C[x_u, x_v]^w.
struct BeliefModel {
  unsigned states = 0;
  HostArray<double> priors;      ///< [vertices][states] not negative; not all zero for a vertex
  std::vector<double> coupling;  ///< [states][states] symmetric, not negative, and not all zero
};

struct BeliefOptions {
  double damping = 0;       ///< share of the old message that stays
  double tolerance = 1e-6;  ///< bound on the largest change of a belief
  std::uint32_t max_iterations = 200;
  bool keep_messages = false;               ///< for verify_beliefs()
  AccFusion fusion = AccFusion::automatic;  ///< all rounds pull, so push_pull equals all
};

/// The messages of a rank's own edges. Those of self-loops are unused: their factors are part of the prior.
class KeptMessages {
 public:
  virtual ~KeptMessages() = default;
  /// [edges][states] Reads, for edges from `first` on, the messages that the lists' vertices received, and
  /// those that they had sent before; each sums to 1. Safe to call from several threads.
  virtual void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const = 0;
};

struct BeliefResult {
  HostArray<float> beliefs;                      ///< [vertices][states]
  std::shared_ptr<const KeptMessages> messages;  ///< null unless kept; the device must outlive them
  bool converged = false;
  double residual = 0;            ///< change in the last iteration
  std::vector<double> residuals;  ///< [iterations]
  AccStats stats;
};

/// The needs of propagate_beliefs() for models with `states` states.
AccNeeds belief_needs(const Device& device, const Graph& graph, unsigned states);
inline AccGraph belief_graph(const Device& device, const Graph& graph, unsigned states,
                             const AccPlace& place = {}) {
  return {device, graph, belief_needs(device, graph, states), place};
}
/// Plans propagate_beliefs(). Throws UsageError for options that it would refuse.
AccPlan plan_beliefs(const Device& device, const Graph& graph, unsigned states, const AccPlace& place = {},
                     const BeliefOptions& options = {});

/// Runs belief propagation. Throws UsageError for a directed graph or options out of range, and InputError if
/// zeros of priors and coupling leave a vertex no state. Not converging is no error. `observer` is called
/// with the number of rounds so far, not after each round if rounds share a launch.
BeliefResult propagate_beliefs(const AccGraph& graph, const BeliefModel& model,
                               const BeliefOptions& options = {},
                               const std::function<void(std::uint32_t)>& observer = {});

}  // namespace sluice::acc

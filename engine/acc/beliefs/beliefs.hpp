// Belief propagation as a solver: the model, the iterations, the result.
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
  HostArray<double> priors;      ///< [vertices][states] not negative, and not all zero for a vertex
  std::vector<double> coupling;  ///< [states][states] symmetric, not negative, and not all zero
};

struct BeliefOptions {
  double damping = 0;       ///< of messages: so much of the old one stays
  double tolerance = 1e-6;  ///< on the largest change of a belief
  std::uint32_t max_iterations = 200;
  bool keep_messages = false;               ///< for a check
  AccFusion fusion = AccFusion::automatic;  ///< all rounds pull: push_pull is all
};

/// The messages of a rank's own edges. Of a self-loop they mean nothing: its factor counts with the prior.
class KeptMessages {
 public:
  virtual ~KeptMessages() = default;
  /// [edges][states] what the vertices of the lists received along the edges from `first` on, and what they
  /// had sent along them before, as parts of 1. Safe to call from several threads.
  virtual void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const = 0;
};

struct BeliefResult {
  HostArray<float> beliefs;                      ///< [vertices][states]
  std::shared_ptr<const KeptMessages> messages;  ///< null unless kept; the device must outlive them
  bool converged = false;
  double residual = 0;            ///< the last change
  std::vector<double> residuals;  ///< [iterations]
  AccStats stats;
};

/// What propagate_beliefs() needs of a graph, for models of so many states.
AccNeeds belief_needs(const Device& device, const Graph& graph, unsigned states);
inline AccGraph belief_graph(const Device& device, const Graph& graph, unsigned states,
                             const AccPlace& place = {}) {
  return {device, graph, belief_needs(device, graph, states), place};
}
/// Throws UsageError for options that propagate_beliefs() would refuse.
AccPlan plan_beliefs(const Device& device, const Graph& graph, unsigned states, const AccPlace& place = {},
                     const BeliefOptions& options = {});

/// Throws UsageError for a directed graph or options out of range, InputError where zeros of priors and
/// coupling leave a vertex no state. Not converging is no error. `observer` learns the rounds so far, not
/// after each where rounds share a launch.
BeliefResult propagate_beliefs(const AccGraph& graph, const BeliefModel& model,
                               const BeliefOptions& options = {},
                               const std::function<void(std::uint32_t)>& observer = {});

}  // namespace sluice::acc

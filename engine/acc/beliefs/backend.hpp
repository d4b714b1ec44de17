// Where beliefs are worked out: on the host's cores (beliefs/beliefs_host.cpp), or on a GPU, an edge a lane
// (beliefs/beliefs_cuda.cu).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/beliefs/bp.hpp"
#include "engine/acc/beliefs/start.hpp"
#include "engine/acc/options.hpp"

namespace sluice::acc {

class BeliefBackend {
 public:
  virtual ~BeliefBackend() = default;
  virtual std::uint64_t longest_list() = 0;
  /// Fills start.reverse; false: an edge has none.
  virtual bool find_reverse(const BeliefStart& start) = 0;
  /// Priors and messages as they begin, and what vertices believe by these. As round().
  virtual double begin(const BeliefStart& start) = 0;
  /// Every vertex sends and receives once. The largest change of a belief, or negative where zeros leave a
  /// vertex no state.
  virtual double round(const BeliefPropagation& program) = 0;
  /// Adds what it took.
  virtual void count(AccStats& stats) const = 0;
};

/// Both keep a reference to the graph.
std::unique_ptr<BeliefBackend> make_host_beliefs(const AccGraph& graph);
std::unique_ptr<BeliefBackend> make_cuda_beliefs(const AccGraph& graph);

/// What a GPU needs beside the graph and the model.
std::uint64_t cuda_belief_bytes(std::uint64_t edges);

}  // namespace sluice::acc

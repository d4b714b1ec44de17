// Belief propagation, round by round: in the memory of one GPU, or of the GPUs of ranks that reach each other
// (beliefs/resident_cuda.cu), or in parts that the host's threads or a GPU work on, one part or several, on
// one rank or several (beliefs/partitioned.cpp). All find the same bits.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/beliefs/bp.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

class BeliefSolver {
 public:
  virtual ~BeliefSolver() = default;
  /// Every vertex sends and receives once, or where rounds share a launch up to `most` times, until no belief
  /// changes by more than `tolerance`; it ends after `most`. Appends the largest change of each round.
  virtual void go_on(std::uint32_t most, double tolerance, std::vector<double>& changes) = 0;
  /// Adds what it took.
  virtual void count(AccStats& stats) const = 0;
  /// Of all vertices. On every rank.
  virtual HostArray<float> beliefs() = 0;
  /// The messages that beliefs() stand on. It takes no more steps then. All ranks call it.
  virtual std::shared_ptr<const KeptMessages> keep_messages() = 0;
};

/// What solvers have of a rank's own vertices, in the device's memory.
class VertexBeliefs : public BeliefSolver {
 public:
  HostArray<float> beliefs() final;

 protected:
  /// Keeps references.
  VertexBeliefs(const Device& device, const AccGraph& graph)
      : device_(device),
        rows_(graph.rank_part()),
        vertices_(graph.vertices()),
        own_rows_(rows_.last() - rows_.first()) {}

  /// Takes memory. Throws BudgetError.
  void take_vertices(const BeliefModel& model);
  /// Once it is there; `coupling` is. All ranks call it.
  void begin_program(const std::vector<double>& coupling, double damping);

  const Device& device_;
  const RankPart& rows_;
  std::uint64_t vertices_, own_rows_;
  Buffer<double> coupling_;
  Buffer<LogProduct> priors_;
  Buffer<double> beliefs_;
  BeliefPropagation program_;
};

/// Both keep references to the graph and the model's coupling alone.
/// Null, on all ranks, where a GPU does not hold its rank's messages, or does not reach the memory of
/// another. All ranks call it.
std::unique_ptr<BeliefSolver> make_resident_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                    const BeliefOptions& options);
std::unique_ptr<BeliefSolver> make_partitioned_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                       const BeliefOptions& options);

/// Logarithms of the coupling, of the largest entry 0: a common factor of all entries changes no belief.
std::vector<double> coupling_logs(const BeliefModel& model);
/// The finest unit in which no sum can overflow: a function of the graph alone. All ranks call it.
int message_shift(const RankPart& part);
/// A message that says nothing.
std::int64_t uniform_message(const BeliefPropagation& program);
/// Where host memory has what was received along an edge, and what was sent: [states].
struct MessagePlaces {
  const std::int64_t *received, *sent;
};
std::shared_ptr<const KeptMessages> kept_messages(const BeliefPropagation& program,
                                                  std::function<MessagePlaces(EdgeIndex)> places);
/// `change`, unless it is negative: a vertex has no state left. Throws InputError.
double possible(double change);

}  // namespace sluice::acc

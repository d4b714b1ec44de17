// Solvers of belief propagation, round by round. One works in the memory of a GPU, or of ranks' GPUs that
// access each other's memory (beliefs/resident_cuda.cu). The other works in parts, on host threads or a GPU,
// on one rank or several (beliefs/partitioned.cpp). Both produce the same bits.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/beliefs/bp.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// A solver, with the data of a rank's own vertices in the device's memory.
class BeliefSolver {
 public:
  virtual ~BeliefSolver() = default;
  /// Runs one round, in which every vertex sends and receives once; or several if rounds share a launch,
  /// until no belief changes by more than `tolerance`. The run ends after `max_rounds` rounds. Appends the
  /// largest change of each.
  virtual void run_rounds(std::uint32_t max_rounds, double tolerance, std::vector<double>& changes) = 0;
  /// Adds the solver's statistics.
  virtual void count(AccStats& stats) const = 0;
  /// Returns the beliefs of all vertices, on every rank.
  HostArray<float> beliefs();
  /// Returns the messages that beliefs() result from; run_rounds() must not follow. All ranks call it.
  virtual std::shared_ptr<const KeptMessages> final_messages() = 0;

 protected:
  /// Keeps references.
  BeliefSolver(const Device& device, const AccGraph& graph)
      : device_(device),
        rank_part_(graph.rank_part()),
        vertices_(graph.vertices()),
        own_rows_(rank_part_.last() - rank_part_.first()) {}

  /// Allocates memory. Throws BudgetError.
  void allocate_vertices(const BeliefModel& model);
  /// Sets up program_ after allocate_vertices(); `coupling` has logarithms. All ranks call it.
  void begin_program(const std::vector<double>& coupling, double damping);

  const Device& device_;
  const RankPart& rank_part_;
  std::uint64_t vertices_, own_rows_;
  Buffer<double> coupling_;
  Buffer<LogProduct> priors_;
  Buffer<double> beliefs_;
  BeliefPropagation program_;
};

/// Both keep references to the graph and the model's coupling alone. The first returns null, on all ranks, if
/// a GPU does not hold its rank's messages, or cannot access the memory of another GPU. All ranks call it.
std::unique_ptr<BeliefSolver> make_resident_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                    const BeliefOptions& options);
std::unique_ptr<BeliefSolver> make_partitioned_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                       const BeliefOptions& options);

/// Logarithms of the coupling, scaled so that the largest is 0: a common factor changes no belief.
std::vector<double> coupling_logs(const BeliefModel& model);
/// The uniform message, the initial value of all messages.
std::int64_t uniform_message(const BeliefPropagation& program);
/// Where host memory has the messages received and sent along an edge: [states].
struct EdgeMessages {
  const std::int64_t *received, *sent;
};
std::shared_ptr<const KeptMessages> make_kept_messages(const BeliefPropagation& program,
                                                       std::function<EdgeMessages(EdgeIndex)> messages_of);
/// Returns `change`. Throws InputError if it is negative: a vertex has no state left.
double checked_change(double change);

}  // namespace sluice::acc

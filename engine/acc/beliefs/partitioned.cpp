// Belief propagation in parts (a whole graph on the host is one part): every rank has the messages of its own
// vertices' edges, and computes what these vertices send. Messages are integers and the largest change is a
// maximum, so every rank gets the results of a single process.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/beliefs/start.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/partition_map.hpp"

namespace sluice::acc {

namespace {

class PartitionedBeliefs final : public BeliefSolver {
 public:
  PartitionedBeliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : BeliefSolver(graph.device(), graph),
        messages_(std::make_shared<MessageParts>(device_, rank_part_, model.states)) {
    allocate_vertices(model);
    products_ = Buffer<LogProduct>(device_, priors_.size(), "vertex states");
    backend_ = make_backend(model.states, options.damping > 0);
    begin(model, options.damping);
  }

  void run_rounds(std::uint32_t max_rounds, double, std::vector<double>& changes) override {
    if (std::exchange(first_, false)) round(true);  // from priors alone
    if (nothing_sent_) checked_change(-1);
    messages_->deliver();
    changes.push_back(round(max_rounds > 1));
  }

  void count(AccStats& stats) const override {
    if (device_.is_cuda())
      stats.host_to_device_bytes += coupling_.bytes() + priors_.bytes() + beliefs_.bytes();
    stats.scratch_bytes = messages_->scratch_bytes();
    backend_->count(stats);
  }

  std::shared_ptr<const KeptMessages> final_messages() override {
    if (!device_.is_planning()) messages_->restore_sent();
    return make_kept_messages(program_, [parts = messages_, states = program_.states](EdgeIndex e) {
      const std::uint64_t part = parts->part_of(e), edge = e - parts->first_edge(0),
                          arrival = parts->arrivals()[edge],
                          departure = parts->departures()[edge] & ~BeliefPart::kLoop;
      return EdgeMessages{parts->received(part) + arrival * states, parts->sent(part) + departure * states};
    });
  }

 private:
  std::unique_ptr<BeliefPartBackend> make_backend([[maybe_unused]] unsigned states,
                                                  [[maybe_unused]] bool damped) const {
#if defined(SLUICE_HAVE_CUDA)
    if (device_.is_cuda()) return make_cuda_belief_parts(device_, rank_part_, *messages_, states, damped);
#endif
    return make_host_belief_parts(device_, rank_part_, *messages_);
  }

  void begin(const BeliefModel& model, double damping) {
    const std::vector<double> logs = coupling_logs(model);
    if (!device_.is_planning()) begin_program(logs, damping);  // before any rank may run out of memory
    HostArray<LogProduct> priors(priors_.size(), "priors");
    HostArray<double> beliefs(beliefs_.size(), "beliefs");
    if (device_.is_planning()) return messages_->build_routes(backend_->parts(), 0, {});
    program_.products = products_.data();
    std::copy_n(model.priors.data() + rank_part_.first() * model.states, beliefs.size(), beliefs.begin());
    BeliefStart start;
    start.program = program_;
    start.program.coupling = logs.data();
    messages_->build_routes(backend_->parts(), uniform_message(program_),
                            [&](const CsrView& lists, std::uint64_t first_row) {
                              BeliefStart piece = start;
                              piece.lists = lists;
                              piece.first = rank_part_.first() + first_row;
                              piece.program.weights = lists.weights;
                              piece.program.beliefs = beliefs.data() + first_row * model.states;
                              piece.priors = priors.data() + first_row * model.states;
                              for (std::uint64_t row = 0; row < lists.vertices; ++row)
                                piece.begin_vertex(row);
                            });
    copy_to_device(device_, priors_.data(), priors.data(), priors_.bytes());
    copy_to_device(device_, beliefs_.data(), beliefs.data(), beliefs_.bytes());
  }

  /// Vertices receive messages, and send those of the next round. Returns the largest change on all ranks.
  double round(bool sends) {
    const BeliefRound local = backend_->round(program_, sends);
    std::array<double, 3> maxima{local.change, local.no_state ? 1.0 : 0.0, local.nothing_sent ? 1.0 : 0.0};
    rank_part_.ranks().all_reduce(maxima, Reduce::max, "a round of messages");
    nothing_sent_ = maxima[2] > 0;
    return checked_change(maxima[1] > 0 ? -1 : maxima[0]);
  }

  std::shared_ptr<MessageParts> messages_;
  Buffer<LogProduct> products_;
  std::unique_ptr<BeliefPartBackend> backend_;
  bool first_ = true, nothing_sent_ = false;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_partitioned_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                       const BeliefOptions& options) {
  return std::make_unique<PartitionedBeliefs>(graph, model, options);
}

}  // namespace sluice::acc

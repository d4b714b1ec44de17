// Belief propagation in parts, of which a whole graph on the host is one: every rank has the messages of its
// own vertices' edges, and works out what these vertices send. Messages are integers and the largest change
// is a maximum, so that every rank finds what one process would.
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

/// What parts have received and sent, in order of the lists.
class PartMessages final : public KeptMessages {
 public:
  PartMessages(const BeliefPropagation& program, std::shared_ptr<const MessageParts> parts)
      : program_(program), parts_(std::move(parts)) {}

  void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const override {
    const std::uint64_t states = program_.states;
    for (std::uint64_t i = 0; i < received.size() / states; ++i) {
      const std::uint64_t part = parts_->part_of(first + i), e = first + i - parts_->first_edge(0);
      const std::int64_t* in = parts_->received(part) + std::uint64_t{parts_->arrivals()[e]} * states;
      const std::uint64_t departure = parts_->departures()[e] & ~BeliefPart::kLoop;
      const std::int64_t* out = parts_->sent(part) + departure * states;
      for (std::uint64_t x = 0; x < states; ++x) {
        received[i * states + x] = message_part(program_, in[x]);
        sent[i * states + x] = message_part(program_, out[x]);
      }
    }
  }

 private:
  BeliefPropagation program_;  ///< only how numbers are kept
  std::shared_ptr<const MessageParts> parts_;
};

class PartitionedBeliefs final : public BeliefSolver {
 public:
  PartitionedBeliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : device_(graph.device()),
        rows_(graph.rank_part()),
        vertices_(graph.vertices()),
        own_rows_(rows_.last() - rows_.first()),
        messages_(std::make_shared<MessageParts>(device_, rows_, model.states)),
        coupling_(device_, model.coupling.size(), "the coupling"),
        priors_(device_, own_rows_ * model.states, "priors"),
        products_(device_, priors_.size(), "vertex states"),
        beliefs_(device_, priors_.size(), "beliefs"),
        backend_(make_backend(model.states, options.damping > 0)) {
    program_.states = model.states;
    if (device_.plans()) {
      begin(model);
      return;
    }
    program_.shift = message_shift(rows_);
    program_.damping = options.damping;
    begin(model);
    program_.coupling = coupling_.data();
    program_.priors = priors_.data();
    program_.after = products_.data();
    program_.beliefs = beliefs_.data();
  }

  void go_on(std::uint32_t most, double, std::vector<double>& changes) override {
    if (std::exchange(first_, false)) round(true);  // by priors alone
    if (nothing_sent_) possible(-1);
    messages_->deliver();
    changes.push_back(round(most > 1));
  }

  void count(AccStats& stats) const override {
    if (device_.is_cuda())
      stats.host_to_device_bytes += coupling_.bytes() + priors_.bytes() + beliefs_.bytes();
    stats.scratch_bytes = messages_->scratch_bytes();
    backend_->count(stats);
  }

  HostArray<float> beliefs() override {
    const std::uint64_t states = program_.states;
    HostArray<float> all(vertices_ * states, "results");
    round_beliefs(device_, beliefs_, all.data() + rows_.first() * states);
    rows_.router().share(all.data(), "the results", states);
    return all;
  }

  std::shared_ptr<const KeptMessages> keep_messages() override {
    messages_->recall();
    return std::make_shared<PartMessages>(program_, messages_);
  }

 private:
  std::unique_ptr<BeliefPartBackend> make_backend([[maybe_unused]] unsigned states,
                                                  [[maybe_unused]] bool damped) const {
#if defined(SLUICE_HAVE_CUDA)
    if (device_.is_cuda()) return make_cuda_belief_parts(device_, rows_, *messages_, states, damped);
#endif
    return make_host_belief_parts(device_, rows_, *messages_);
  }

  void begin(const BeliefModel& model) {
    const std::vector<double> logs = coupling_logs(model);
    HostArray<LogProduct> priors(priors_.size(), "priors");
    HostArray<double> beliefs(beliefs_.size(), "beliefs");
    if (device_.plans()) {
      AccStats stats;
      backend_->count(stats);
      return messages_->plan_layout(stats.partitions);
    }
    std::copy_n(model.priors.data() + rows_.first() * model.states, beliefs.size(), beliefs.begin());
    BeliefStart start;
    start.program = program_;
    start.program.coupling = logs.data();
    messages_->lay_out(backend_->parts(), uniform_message(program_),
                       [&](const CsrView& lists, std::uint64_t first_row) {
                         BeliefStart here = start;
                         here.lists = lists;
                         here.first = rows_.first() + first_row;
                         here.program.weights = lists.weights;
                         here.program.beliefs = beliefs.data() + first_row * model.states;
                         here.priors = priors.data() + first_row * model.states;
                         for (std::uint64_t row = 0; row < lists.vertices; ++row) here.begin_vertex(row);
                       });
    copy_to_device(device_, coupling_.data(), logs.data(), coupling_.bytes());
    copy_to_device(device_, priors_.data(), priors.data(), priors_.bytes());
    copy_to_device(device_, beliefs_.data(), beliefs.data(), beliefs_.bytes());
  }

  /// Vertices receive, and send what is received in the next round. The largest change of all ranks.
  double round(bool sends) {
    const BeliefRound mine = backend_->round(program_, sends);
    std::array<double, 3> all{mine.change, mine.no_state ? 1.0 : 0.0, mine.nothing_sent ? 1.0 : 0.0};
    rows_.ranks().all_reduce(all, Reduce::max, "a round of messages");
    nothing_sent_ = all[2] > 0;
    return possible(all[1] > 0 ? -1 : all[0]);
  }

  const Device& device_;
  const RankPart& rows_;
  std::uint64_t vertices_, own_rows_;
  std::shared_ptr<MessageParts> messages_;
  Buffer<double> coupling_;
  Buffer<LogProduct> priors_, products_;
  Buffer<double> beliefs_;
  std::unique_ptr<BeliefPartBackend> backend_;
  BeliefPropagation program_;
  bool first_ = true, nothing_sent_ = false;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_partitioned_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                       const BeliefOptions& options) {
  return std::make_unique<PartitionedBeliefs>(graph, model, options);
}

}  // namespace sluice::acc

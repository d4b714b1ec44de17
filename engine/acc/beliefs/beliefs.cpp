#include "engine/acc/beliefs/beliefs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/beliefs/start.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

namespace {

void validate(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options) {
  if (!graph.symmetric())
    throw UsageError(
        "bp: the graph is directed, but messages need both directions (convert its edges with --undirected)");
  if (model.states < 1 || model.states > kMaxBeliefStates)
    throw UsageError(
        fmt::format("bp: {} states; the number of states must be 1 to {}", model.states, kMaxBeliefStates));
  if (!(options.damping >= 0 && options.damping < 1))
    throw UsageError(fmt::format("--message-damping {}: must be at least 0 and below 1", options.damping));
  if (!(options.tolerance >= 0)) throw UsageError("--tolerance: 0 or more");
  if (options.max_iterations == 0) throw UsageError("--max-iterations: 1 or more");
  validate(graph, AccOptions{.fusion = options.fusion});
}

std::unique_ptr<BeliefSolver> make_solver(const AccGraph& graph, const BeliefModel& model,
                                          const BeliefOptions& options) {
#if defined(SLUICE_HAVE_CUDA)
  if (graph.device().is_cuda())
    if (auto resident = make_resident_beliefs(graph, model, options)) return resident;
#endif
  return make_partitioned_beliefs(graph, model, options);
}

/// The shift of the finest unit in which no sum can overflow; it depends on the graph alone. All ranks call
/// it.
int message_shift(const RankPart& part) {
  std::uint64_t longest[] = {part.largest_degree()};
  part.ranks().all_reduce(longest, Reduce::max, "the longest list");
  const auto largest = (longest[0] + 4) * static_cast<std::uint64_t>(-kMinLog);
  return std::min(44, 62 - static_cast<int>(std::bit_width(largest)));
}

constexpr std::uint64_t kCopiedAtOnce = 1u << 20;

/// Copies beliefs to the host and rounds them to float, as in results.
void round_beliefs(const Device& device, const Buffer<double>& beliefs, float* rounded) {
  HostArray<double> chunk(std::min<std::uint64_t>(beliefs.size(), kCopiedAtOnce), "results");
  if (device.is_planning()) return;
  for (std::uint64_t first = 0; first < beliefs.size(); first += chunk.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(chunk.size(), beliefs.size() - first);
    copy_to_host(device, chunk.data(), beliefs.data() + first, size * sizeof(double));
    std::transform(chunk.data(), chunk.data() + size, rounded + first,
                   [](double belief) { return static_cast<float>(belief); });
  }
}

/// A message's value, of messages that sum to 1.
double message_value(const BeliefPropagation& program, std::int64_t message) {
  return message == BeliefPropagation::kZero ? 0.0 : exact::power2(program.real(message));
}

class MessagesInMemory final : public KeptMessages {
 public:
  MessagesInMemory(const BeliefPropagation& program, std::function<EdgeMessages(EdgeIndex)> messages_of)
      : program_(program), messages_of_(std::move(messages_of)) {}

  void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const override {
    const std::uint64_t states = program_.states;
    for (std::uint64_t i = 0; i < received.size(); i += states) {
      const EdgeMessages messages = messages_of_(first + i / states);
      for (std::uint64_t x = 0; x < states; ++x) {
        received[i + x] = message_value(program_, messages.received[x]);
        sent[i + x] = message_value(program_, messages.sent[x]);
      }
    }
  }

 private:
  BeliefPropagation program_;  ///< used only to convert numbers
  std::function<EdgeMessages(EdgeIndex)> messages_of_;
};

}  // namespace

void BeliefSolver::allocate_vertices(const BeliefModel& model) {
  program_.states = model.states;
  coupling_ = Buffer<double>(device_, model.coupling.size(), "the coupling");
  priors_ = Buffer<LogProduct>(device_, own_rows_ * model.states, "priors");
  beliefs_ = Buffer<double>(device_, priors_.size(), "beliefs");
}

void BeliefSolver::begin_program(const std::vector<double>& coupling, double damping) {
  program_.shift = message_shift(rank_part_);
  program_.damping = damping;
  program_.coupling = coupling_.data();
  program_.priors = priors_.data();
  program_.beliefs = beliefs_.data();
  copy_to_device(device_, coupling_.data(), coupling.data(), coupling_.bytes());
}

HostArray<float> BeliefSolver::beliefs() {
  HostArray<float> all(vertices_ * program_.states, "results");
  round_beliefs(device_, beliefs_, all.data() + rank_part_.first() * program_.states);
  rank_part_.router().share(all.data(), "the results", program_.states);
  return all;
}

std::shared_ptr<const KeptMessages> make_kept_messages(const BeliefPropagation& program,
                                                       std::function<EdgeMessages(EdgeIndex)> messages_of) {
  return std::make_shared<MessagesInMemory>(program, std::move(messages_of));
}

std::vector<double> coupling_logs(const BeliefModel& model) {
  const double max_entry = *std::max_element(model.coupling.begin(), model.coupling.end());
  std::vector<double> logs(model.coupling.size());
  std::transform(model.coupling.begin(), model.coupling.end(), logs.begin(),
                 [&](double entry) { return log_ratio(entry, max_entry); });
  return logs;
}

std::int64_t uniform_message(const BeliefPropagation& program) {
  return program.fixed(exact::log2(exact::divide(1, program.states)));
}

double checked_change(double change) {
  if (change >= 0) return change;
  throw InputError(
      "bp: zeros in priors and coupling exclude every state of a vertex (make one of them positive)");
}

BeliefResult propagate_beliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options,
                               const std::function<void(std::uint32_t)>& observer) {
  validate(graph, model, options);
  BeliefResult result;
  result.converged = true;
  if (graph.vertices() == 0) return result;
  const double begin = seconds_now();
  const auto solver = make_solver(graph, model, options);
  result.stats.setup_seconds = graph.setup_seconds() + seconds_now() - begin;
  result.stats.host_to_device_bytes = graph.uploaded_bytes();
  if (!graph.device().is_planning()) {
    const double ready = seconds_now();
    result.stats.begin_rounds();
    do {
      solver->run_rounds(options.max_iterations - static_cast<std::uint32_t>(result.stats.rounds),
                         options.tolerance, result.residuals);
      while (result.stats.rounds < result.residuals.size())
        result.stats.add({.pull = true, .active = graph.vertices(), .edges = graph.edges()});
      if (observer) observer(static_cast<std::uint32_t>(result.stats.rounds));
      result.residual = result.residuals.back();
      result.converged = result.residual <= options.tolerance;
    } while (!result.converged && result.stats.rounds < options.max_iterations);
    result.stats.compute_seconds = seconds_now() - ready;
  }
  solver->count(result.stats);
  result.beliefs = solver->beliefs();
  if (options.keep_messages) result.messages = solver->final_messages();
  return result;
}

}  // namespace sluice::acc

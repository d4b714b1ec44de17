#include "engine/acc/beliefs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "engine/acc/belief_backend.hpp"
#include "engine/core/error.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kCopiedAtOnce = 1u << 20;

void validate(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options) {
  if (!graph.symmetric())
    throw UsageError("bp: the graph is directed; messages go both ways (convert it with --undirected)");
  if (graph.owned() != nullptr) throw UsageError("bp: works on a whole graph in one process");
  if (model.states < 1 || model.states > kMostBeliefStates)
    throw UsageError(
        fmt::format("bp: {} states, of which there may be 1 to {}", model.states, kMostBeliefStates));
  if (!(options.damping >= 0 && options.damping < 1))
    throw UsageError(fmt::format("--message-damping {}: from 0 up to, and without, 1", options.damping));
  if (!(options.tolerance >= 0)) throw UsageError("--tolerance: 0 or more");
  if (options.max_iterations == 0) throw UsageError("--max-iterations: 1 or more");
}

std::unique_ptr<BeliefBackend> make_backend(const AccGraph& graph) {
#if defined(SLUICE_HAVE_CUDA)
  if (graph.device().is_cuda()) return make_cuda_beliefs(graph);
#endif
  return make_host_beliefs(graph);
}

/// What propagation works on, where the device reaches it.
class Beliefs {
 public:
  Beliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : device_(graph.device()),
        backend_(make_backend(graph)),
        coupling_(device_, model.coupling.size(), "the coupling"),
        reverse_(device_, graph.out().edges, "positions of reverse edges"),
        priors_(device_, graph.vertices() * model.states, "priors"),
        products_{{device_, priors_.size(), "vertex states"}, {device_, priors_.size(), "vertex states"}},
        messages_{{device_, graph.out().edges * model.states, "messages"},
                  {device_, graph.out().edges * model.states, "messages"}},
        beliefs_(device_, priors_.size(), "beliefs") {
    program_.states = model.states;
    program_.shift = unit_of(backend_->longest_list());
    program_.damping = options.damping;
    program_.coupling = coupling_.data();
    program_.weights = graph.out().weights;
    program_.reverse = reverse_.data();
    program_.priors = priors_.data();
    program_.beliefs = beliefs_.data();
    give_model(model);
    begin(graph.out());
  }

  double step() {
    bind(++steps_);
    return possible(backend_->round(program_));
  }

  void count(AccStats& stats) const {
    if (device_.is_cuda()) stats.host_to_device_bytes += coupling_.bytes() + beliefs_.bytes();
    backend_->count(stats);
  }

  HostArray<float> beliefs() const {
    return brought<float>(beliefs_, [](double belief) { return static_cast<float>(belief); });
  }

  HostArray<double> messages() const {
    return brought<double>(messages_[steps_ % 2], [&](std::int64_t log) {
      return log == BeliefPropagation::kZero ? 0.0 : exact::power2(program_.real(log));
    });
  }

 private:
  /// The finest unit in which no sum can overflow: a function of the graph alone.
  static int unit_of(std::uint64_t longest_list) {
    const auto largest = (longest_list + 4) * static_cast<std::uint64_t>(-kLeastLog);
    return std::min(44, 62 - static_cast<int>(std::bit_width(largest)));
  }

  /// Logarithms of the coupling, of the largest entry 0: a common factor of all entries changes no belief.
  void give_model(const BeliefModel& model) {
    const double most = *std::max_element(model.coupling.begin(), model.coupling.end());
    std::vector<double> logs(model.coupling.size());
    std::transform(model.coupling.begin(), model.coupling.end(), logs.begin(),
                   [&](double entry) { return log_ratio(entry, most); });
    copy_to_device(device_, coupling_.data(), logs.data(), coupling_.bytes());
    copy_to_device(device_, beliefs_.data(), model.priors.data(), beliefs_.bytes());
  }

  void begin(const CsrView& lists) {
    bind(0);
    BeliefStart start;
    start.program = program_;
    start.lists = lists;
    start.reverse = reverse_.data();
    start.priors = priors_.data();
    start.messages[0] = messages_[0].data(), start.messages[1] = messages_[1].data();
    start.uniform = program_.fixed(exact::log2(exact::divide(1, program_.states)));
    if (!backend_->find_reverse(start))
      throw InputError("the graph calls itself undirected, but an edge has no reverse (see sluice check)");
    possible(backend_->begin(start));
  }

  /// Step `step` reads what the one before has left, and leaves its own.
  void bind(std::uint64_t step) {
    program_.before = products_[(step + 1) % 2].data(), program_.after = products_[step % 2].data();
    program_.heard = messages_[(step + 1) % 2].data(), program_.hearing = messages_[step % 2].data();
  }

  /// What lies on the device, turned into something else on the way.
  template <class To, class From, class Convert>
  HostArray<To> brought(const Buffer<From>& there, Convert&& convert) const {
    HostArray<To> all(there.size(), "results");
    HostArray<From> some(std::min<std::uint64_t>(all.size(), kCopiedAtOnce), "results");
    for (std::uint64_t first = 0; first < all.size(); first += some.size()) {
      const std::uint64_t size = std::min<std::uint64_t>(some.size(), all.size() - first);
      copy_to_host(device_, some.data(), there.data() + first, size * sizeof(From));
      std::transform(some.data(), some.data() + size, all.data() + first, convert);
    }
    return all;
  }

  static double possible(double change) {
    if (change >= 0) return change;
    throw RunError("bp: zeros of priors and coupling leave a vertex no state (make one of them positive)");
  }

  const Device& device_;
  std::unique_ptr<BeliefBackend> backend_;
  Buffer<double> coupling_;
  Buffer<EdgeIndex> reverse_;
  Buffer<LogProduct> priors_, products_[2];
  Buffer<std::int64_t> messages_[2];
  Buffer<double> beliefs_;
  BeliefPropagation program_;
  std::uint64_t steps_ = 0;
};

}  // namespace

BeliefResult propagate_beliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options,
                               const std::function<void(std::uint32_t)>& observer) {
  validate(graph, model, options);
  BeliefResult result;
  result.converged = true;
  if (graph.vertices() == 0) return result;
  const auto seconds_since = [](auto begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  auto begin = std::chrono::steady_clock::now();
  Beliefs beliefs(graph, model, options);
  result.stats.setup_seconds = graph.setup_seconds() + seconds_since(begin);
  result.stats.host_to_device_bytes = graph.uploaded_bytes();
  begin = std::chrono::steady_clock::now();
  do {
    result.residual = beliefs.step();
    result.residuals.push_back(result.residual);
    result.stats.add({.pull = true, .active = graph.vertices(), .edges = graph.out().edges});
    if (observer) observer(static_cast<std::uint32_t>(result.stats.rounds));
    result.converged = result.residual <= options.tolerance;
  } while (!result.converged && result.stats.rounds < options.max_iterations);
  result.stats.compute_seconds = seconds_since(begin);
  beliefs.count(result.stats);
  result.beliefs = beliefs.beliefs();
  if (options.keep_messages) result.messages = beliefs.messages();
  return result;
}

}  // namespace sluice

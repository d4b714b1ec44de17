#include "engine/acc/beliefs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <limits>

#include "engine/acc/bp.hpp"
#include "engine/acc/host_gather.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 10;

void validate(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options) {
  if (!graph.symmetric())
    throw UsageError("bp: the graph is directed; messages go both ways (convert it with --undirected)");
  if (graph.owned() != nullptr) throw UsageError("bp: works on a whole graph in one process");
  if (graph.device().is_cuda()) throw UsageError("bp: runs on the host for now (--device host)");
  if (model.states < 1 || model.states > kMostBeliefStates)
    throw UsageError(
        fmt::format("bp: {} states, of which there may be 1 to {}", model.states, kMostBeliefStates));
  if (!(options.damping >= 0 && options.damping < 1))
    throw UsageError(fmt::format("--message-damping {}: from 0 up to, and without, 1", options.damping));
  if (!(options.tolerance >= 0)) throw UsageError("--tolerance: 0 or more");
  if (options.max_iterations == 0) throw UsageError("--max-iterations: 1 or more");
}

class Beliefs {
 public:
  Beliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : graph_(graph),
        options_(options),
        n_(graph.vertices()),
        gather_(graph.out(), graph.device().threads()),
        coupling_(model.coupling.size()),
        reverse_(graph.device(), graph.out().edges, "positions of reverse edges"),
        priors_(graph.device(), n_ * model.states, "priors"),
        products_{{graph.device(), n_ * model.states, "vertex states"},
                  {graph.device(), n_ * model.states, "vertex states"}},
        messages_{{graph.device(), graph.out().edges * model.states, "messages"},
                  {graph.device(), graph.out().edges * model.states, "messages"}},
        beliefs_(graph.device(), n_ * model.states, "beliefs") {
    program_.states = model.states;
    program_.damping = options.damping;
    program_.weights = graph.out().weights;
    program_.reverse = reverse_.data();
    program_.priors = priors_.data();
    program_.beliefs = beliefs_.data();
    choose_unit();
    take_coupling(model);
    find_reverse();
    start(model);
  }

  double step() {
    bind(++steps_);
    const double change = gather_.round([&](Vertex v) { return renew(v); });
    if (change < 0) refuse_contradiction();
    return change;
  }

  void results(BeliefResult& result) {
    result.beliefs = HostArray<float>(beliefs_.size(), "results");
    std::transform(beliefs_.data(), beliefs_.data() + beliefs_.size(), result.beliefs.begin(),
                   [](double belief) { return static_cast<float>(belief); });
    if (!options_.keep_messages) return;
    const auto& last = messages_[steps_ % 2];
    result.messages = HostArray<double>(last.size(), "messages");
    std::transform(last.data(), last.data() + last.size(), result.messages.begin(), [&](std::int64_t log) {
      return log == BeliefPropagation::kZero ? 0.0 : exact::power2(program_.real(log));
    });
  }

 private:
  EdgeIndex begin_of(std::uint64_t v) const { return graph_.out().offsets[v]; }

  /// The finest unit in which no sum can overflow: a function of the graph alone.
  void choose_unit() {
    std::uint64_t most = 0;
    for (std::uint64_t v = 0; v < n_; ++v) most = std::max(most, begin_of(v + 1) - begin_of(v));
    const auto largest = (most + 4) * static_cast<std::uint64_t>(-kLeastLog);
    program_.shift = std::min(44, 62 - static_cast<int>(std::bit_width(largest)));
  }

  /// Logarithms, of the largest entry 0: a common factor of all entries changes no belief.
  void take_coupling(const BeliefModel& model) {
    const double most = *std::max_element(model.coupling.begin(), model.coupling.end());
    std::transform(model.coupling.begin(), model.coupling.end(), coupling_.begin(),
                   [&](double entry) { return log_ratio(entry, most); });
    program_.coupling = coupling_.data();
  }

  static double log_ratio(double value, double most) {
    const double ratio = exact::divide(value, most);
    if (value <= 0) return -std::numeric_limits<double>::infinity();
    return ratio >= std::numeric_limits<double>::min() ? exact::log2(ratio) : kLeastLog;
  }

  /// The copies of an edge between two vertices stand in the same order in both lists.
  void find_reverse() {
    const CsrView& lists = graph_.out();
    std::atomic<bool> missing{false};
    over_vertices([&](Vertex v) {
      for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) {
        const Vertex u = lists.targets[e];
        const auto first = [&](Vertex in, Vertex of) {
          return std::lower_bound(lists.targets + begin_of(in), lists.targets + begin_of(in + 1ull), of) -
                 lists.targets;
        };
        const auto back = static_cast<EdgeIndex>(first(u, v)) + (e - static_cast<EdgeIndex>(first(v, u)));
        if (back >= begin_of(u + 1ull) || lists.targets[back] != v) {
          missing = true;
          return;
        }
        reverse_.data()[e] = back;
      }
    });
    if (missing)
      throw InputError("the graph calls itself undirected, but an edge has no reverse (see sluice check)");
  }

  template <class Body>
  void over_vertices(Body&& body) {
    parallel_blocks(graph_.device().threads(), n_, kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t v = begin; v < end; ++v) body(static_cast<Vertex>(v));
                    });
  }

  /// Priors with the factors of self-loops; uniform messages; what follows from them.
  void start(const BeliefModel& model) {
    const unsigned states = program_.states;
    const std::int64_t uniform = program_.fixed(exact::log2(exact::divide(1, states)));
    over_vertices([&](Vertex v) {
      const double* prior = model.priors.data() + std::uint64_t{v} * states;
      const double most = *std::max_element(prior, prior + states);
      for (unsigned x = 0; x < states; ++x) {
        LogProduct& product = priors_.data()[std::uint64_t{v} * states + x];
        product = as_factor(log_ratio(prior[x], most));
        for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) {
          const bool loop = graph_.out().targets[e] == v;
          messages_[0].data()[e * states + x] = messages_[1].data()[e * states + x] = loop ? 0 : uniform;
          if (loop) product.multiply(as_factor(program_.coupling_log(x, x, e)));
        }
      }
    });
    std::fill(beliefs_.data(), beliefs_.data() + beliefs_.size(), 0.0);
    bind(0);
    if (gather_.round([&](Vertex v) { return sum_up(v); }) < 0) refuse_contradiction();
  }

  LogProduct as_factor(double log) const {
    return BeliefPropagation::is_zero(log) ? LogProduct{0, 1} : LogProduct{program_.fixed(log), 0};
  }

  /// Step `step` reads what the one before has left, and leaves its own.
  void bind(std::uint64_t step) {
    program_.before = products_[(step + 1) % 2].data(), program_.after = products_[step % 2].data();
    program_.heard = messages_[(step + 1) % 2].data(), program_.hearing = messages_[step % 2].data();
  }

  double renew(Vertex v) {
    for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) {
      const Vertex u = graph_.out().targets[e];
      if (u != v && !program_.compute(u, e)) return -1;
    }
    return sum_up(v);
  }

  double sum_up(Vertex v) {
    for (unsigned x = 0; x < program_.states; ++x) {
      const std::uint64_t at = std::uint64_t{v} * program_.states + x;
      LogProduct product = program_.priors[at];
      for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) program_.combine(product, e, x);
      program_.after[at] = product;
    }
    return program_.finish(v);
  }

  [[noreturn]] static void refuse_contradiction() {
    throw RunError("bp: zeros of priors and coupling leave a vertex no state (make one of them positive)");
  }

  const AccGraph& graph_;
  BeliefOptions options_;
  std::uint64_t n_;
  acc::GatherRounds gather_;
  std::vector<double> coupling_;
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
  begin = std::chrono::steady_clock::now();
  do {
    result.residual = beliefs.step();
    result.residuals.push_back(result.residual);
    result.stats.add({.pull = true, .active = graph.vertices(), .edges = graph.out().edges});
    if (observer) observer(static_cast<std::uint32_t>(result.stats.rounds));
    result.converged = result.residual <= options.tolerance;
  } while (!result.converged && result.stats.rounds < options.max_iterations);
  result.stats.compute_seconds = seconds_since(begin);
  beliefs.results(result);
  return result;
}

}  // namespace sluice

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice {

namespace {

/// What rounding to f32 and to a message's fixed point may cost.
constexpr double kRounding = 1e-5;

using Values = std::vector<double>;

void normalise(Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  for (double& value : values) value /= sum;
}

class BeliefCheck {
 public:
  BeliefCheck(const Graph& graph, const BeliefModel& model, const BeliefResult& result)
      : graph_(graph),
        model_(model),
        result_(result),
        states_(model.states),
        largest_(*std::max_element(model.coupling.begin(), model.coupling.end())) {}

  void run(double tolerance, double damping) const {
    for (Vertex v = 0; v < graph_.vertices(); ++v)
      require_near(v, product_of(v, result_.messages.data()), kRounding, "what it was told");
    if (!result_.converged) return;
    const Values renewed = another_round(damping);
    for (Vertex v = 0; v < graph_.vertices(); ++v)
      require_near(v, product_of(v, renewed.data()), tolerance + kRounding, "another round of messages");
  }

 private:
  EdgeIndex begin_of(std::uint64_t v) const { return graph_.out.offsets[v]; }

  /// Of the largest entry 1, so that no power of it overflows.
  double factor(unsigned x, unsigned y, EdgeIndex e) const {
    const float weight = graph_.out.weights.empty() ? 1 : graph_.out.weights[e];
    return std::pow(model_.coupling[x * states_ + y] / largest_, static_cast<double>(weight));
  }

  /// The prior of v, with the factors of self-loops.
  Values own(Vertex v) const {
    const double* at = model_.priors.data() + std::uint64_t{v} * states_;
    Values all(at, at + states_);
    normalise(all);
    for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) {
      if (graph_.out.targets[e] != v) continue;
      for (unsigned x = 0; x < states_; ++x) all[x] *= factor(x, x, e);
      normalise(all);  // else long products underflow
    }
    return all;
  }

  /// Takes in what v was told along the edge at e.
  void multiply(Values& all, Vertex v, EdgeIndex e, const double* messages) const {
    if (graph_.out.targets[e] == v) return;
    for (unsigned x = 0; x < states_; ++x) all[x] *= messages[e * states_ + x];
    normalise(all);
  }

  Values product_of(Vertex v, const double* messages) const {
    Values all = own(v);
    for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) multiply(all, v, e, messages);
    return all;
  }

  /// Products without one factor are those of all before it and of all behind it.
  Values another_round(double damping) const {
    Values renewed(result_.messages.begin(), result_.messages.end());
    // Lists are walked in order of the vertex, so that every list meets its sources in ascending order.
    std::vector<EdgeIndex> next(graph_.out.offsets.begin(), graph_.out.offsets.end());
    for (Vertex v = 0; v < graph_.vertices(); ++v) {
      const EdgeIndex begin = begin_of(v), end = begin_of(v + 1ull);
      std::vector<Values> behind(end - begin + 1, Values(states_, 1.0));
      for (EdgeIndex e = end; e-- > begin;) {
        behind[e - begin] = behind[e - begin + 1];
        multiply(behind[e - begin], v, e, result_.messages.data());
      }
      Values before = own(v);
      for (EdgeIndex e = begin; e < end; ++e) {
        const EdgeIndex back = next[graph_.out.targets[e]]++;
        if (graph_.out.targets[e] == v) continue;
        Values others = before;
        for (unsigned x = 0; x < states_; ++x) others[x] *= behind[e - begin + 1][x];
        tell(others, e, damping, &renewed[back * states_]);
        multiply(before, v, e, result_.messages.data());
      }
    }
    return renewed;
  }

  /// The message along e of a vertex with these products; `message` holds the old one.
  void tell(const Values& others, EdgeIndex e, double damping, double* message) const {
    Values sum(states_, 0.0);
    for (unsigned x = 0; x < states_; ++x) {
      for (unsigned y = 0; y < states_; ++y) sum[y] += others[x] * factor(x, y, e);
    }
    normalise(sum);
    for (unsigned y = 0; y < states_; ++y) message[y] = (1 - damping) * sum[y] + damping * message[y];
  }

  void require_near(Vertex v, const Values& expected, double tolerance, const char* by) const {
    for (unsigned x = 0; x < states_; ++x) {
      const auto belief = static_cast<double>(result_.beliefs[std::uint64_t{v} * states_ + x]);
      if (!(std::abs(belief - expected[x]) <= tolerance))
        throw RunError(fmt::format("verify: vertex {} believes {} of state {}, but by {} it would be {}", v,
                                   belief, x, by, expected[x]));
    }
  }

  const Graph& graph_;
  const BeliefModel& model_;
  const BeliefResult& result_;
  unsigned states_;
  double largest_;
};

}  // namespace

void verify_beliefs(const Graph& graph, const BeliefModel& model, const BeliefResult& result,
                    double tolerance, double damping) {
  BeliefCheck(graph, model, result).run(tolerance, damping);
}

}  // namespace sluice

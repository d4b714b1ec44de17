#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/acc/beliefs/bp.hpp"
#include "engine/acc/verify.hpp"
#include "engine/acc/verify_edges.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::acc {

namespace {

/// Tolerance for rounding to float and to the fixed point of messages.
constexpr double kRounding = 1e-5;
/// Numbers of messages that a thread reads at once, and lists that it takes at a time.
constexpr std::uint64_t kNumbersAtOnce = 2048, kListsAtOnce = 64;

/// A product for every state: the sum of logarithms of nonzero factors, and the number of zero factors.
struct Product {
  double log[kMaxBeliefStates] = {};
  std::uint32_t zeros[kMaxBeliefStates] = {};

  void multiply(unsigned x, double factor_log) {
    if (std::isinf(factor_log)) {
      ++zeros[x];
    } else {
      log[x] += factor_log;
    }
  }
};

/// Scales logarithms so that their values sum to 1.
void normalise(double* logs, unsigned states) {
  const double max_log = *std::max_element(logs, logs + states);
  double sum = 0;
  for (unsigned x = 0; x < states; ++x) sum += std::exp2(logs[x] - max_log);
  for (unsigned x = 0; x < states; ++x) logs[x] -= max_log + std::log2(sum);
}

class BeliefCheck {
 public:
  BeliefCheck(const Graph& graph, const BeliefModel& model, const BeliefResult& result, Communicator* ranks,
              unsigned threads)
      : graph_(graph),
        model_(model),
        result_(result),
        ranks_(ranks),
        threads_(threads),
        states_(model.states),
        own_rows_(graph.out.offsets.span(), ranks),
        logs_(graph.vertices() * states_, "checked beliefs"),
        zeros_(graph.vertices() * states_, "checked beliefs") {
    const double largest = *std::max_element(model.coupling.begin(), model.coupling.end());
    for (const double entry : model.coupling) coupling_.push_back(std::log2(entry / largest));
  }

  double run(double tolerance, double damping) {
    for_each_own_list([&](const CheckedList& list) { receive(list); });
    share();
    for (std::uint64_t v = own_rows_.first; v < own_rows_.last; ++v)
      (void)require_near(static_cast<Vertex>(v), product_of(v), kRounding, "its received messages");
    std::atomic<double> largest = 0;
    const double allowed =
        result_.converged ? tolerance + kRounding : std::numeric_limits<double>::infinity();
    for_each_own_list([&](const CheckedList& list) {
      const double change =
          require_near(list.v, next_round_product(list, damping), allowed, "another round of messages");
      for (double known = largest; change > known && !largest.compare_exchange_weak(known, change);) {
      }
    });
    require(hash_difference_ == 0, "messages that vertices received differ from those that were sent");
    return largest;
  }

 private:
  template <class Use>
  void for_each_own_list(Use&& use) {
    for_each_list(graph_, own_rows_, true, threads_, kListsAtOnce, use);
  }

  double factor(unsigned x, unsigned y, double weight) const {
    return weight == 0 ? 0 : weight * coupling_[x * states_ + y];
  }

  /// The prior of a vertex, with the factors of self-loops.
  Product prior_of(const CheckedList& list) const {
    Product product;
    const double* priors = model_.priors.data() + std::uint64_t{list.v} * states_;
    for (unsigned x = 0; x < states_; ++x) product.multiply(x, std::log2(priors[x]));
    const auto loops = std::equal_range(list.targets + list.begin, list.targets + list.end, list.v);
    for (const Vertex* loop = loops.first; loop < loops.second; ++loop) {
      for (unsigned x = 0; x < states_; ++x)
        product.multiply(x, factor(x, x, list.weight(static_cast<EdgeIndex>(loop - list.targets))));
    }
    return product;
  }

  /// Calls use(e, received, sent) for the edges of a list except self-loops.
  template <class Use>
  void for_each_message(const CheckedList& list, Use&& use) const {
    double received[kNumbersAtOnce], sent[kNumbersAtOnce];
    const std::uint64_t max_edges = kNumbersAtOnce / states_;
    for (EdgeIndex e = list.begin; e < list.end; e += max_edges) {
      const std::uint64_t edges = std::min<std::uint64_t>(max_edges, list.end - e), size = edges * states_;
      result_.messages->read(e, {received, size}, {sent, size});
      for (EdgeIndex i = 0; i < edges; ++i) {
        if (list.targets[e + i] != list.v) use(e + i, received + i * states_, sent + i * states_);
      }
    }
  }

  /// Multiplies the messages that v received, and traces senders and receivers.
  void receive(const CheckedList& list) {
    Product product = prior_of(list);
    std::uint64_t difference = 0, copy = 0;
    Vertex previous = list.v;
    for_each_message(list, [&](EdgeIndex e, const double* received, const double* sent) {
      for (unsigned x = 0; x < states_; ++x) product.multiply(x, std::log2(received[x]));
      const Vertex u = list.targets[e];
      copy = u == previous ? copy + 1 : 0;
      previous = u;
      difference += hash_message(u, list.v, copy, received) - hash_message(list.v, u, copy, sent);
    });
    std::copy_n(product.log, states_, logs_.data() + std::uint64_t{list.v} * states_);
    std::copy_n(product.zeros, states_, zeros_.data() + std::uint64_t{list.v} * states_);
    hash_difference_ += difference;
  }

  /// A hash of a message from u to v, along the copy-th of parallel edges. Its sums over all sent and all
  /// received messages are equal if none was misdelivered, and otherwise almost never.
  std::uint64_t hash_message(Vertex u, Vertex v, std::uint64_t copy, const double* message) const {
    const auto mix = [](std::uint64_t x) {  // SplitMix64 (Steele, Lea, Flood, 2014)
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
      x = (x ^ x >> 27) * 0x94d049bb133111ebu;
      return x ^ x >> 31;
    };
    std::uint64_t hash = mix(mix(std::uint64_t{u} << 32 | v) + copy + 0x9e3779b97f4a7c15u);
    for (unsigned x = 0; x < states_; ++x) hash = mix(hash + std::bit_cast<std::uint64_t>(message[x]));
    return hash;
  }

  /// Sends every rank the products of all vertices.
  void share() {
    if (ranks_ == nullptr || ranks_->size() == 1) return;
    const Router router(*ranks_, own_rows_.owners);
    hash_difference_ = router.sum(hash_difference_, "checked messages");
    router.share(logs_.data(), "checked beliefs", states_);
    router.share(zeros_.data(), "checked beliefs", states_);
  }

  Product product_of(std::uint64_t v) const {
    Product product;
    std::copy_n(logs_.data() + v * states_, states_, product.log);
    std::copy_n(zeros_.data() + v * states_, states_, product.zeros);
    return product;
  }

  /// The product of v's prior and the messages that its neighbours would send it in another round.
  Product next_round_product(const CheckedList& list, double damping) const {
    Product product = prior_of(list);
    for_each_message(list, [&](EdgeIndex e, const double* received, const double* sent) {
      Product others = product_of(list.targets[e]);
      for (unsigned x = 0; x < states_; ++x) {
        if (sent[x] > 0) {
          others.log[x] -= std::log2(sent[x]);
        } else {
          --others.zeros[x];
        }
      }
      double message[kMaxBeliefStates];
      send(others, list.weight(e), message);
      for (unsigned y = 0; y < states_; ++y) {
        if (damping > 0)
          message[y] = std::log2((1 - damping) * std::exp2(message[y]) + damping * received[y]);
        product.multiply(y, std::isinf(message[y]) ? message[y] : std::max(message[y], kMinLog));
      }
    });
    return product;
  }

  /// Computes log2 of the message of a vertex with these products.
  void send(const Product& others, double weight, double* message) const {
    constexpr double kLogZero = -std::numeric_limits<double>::infinity();
    for (unsigned y = 0; y < states_; ++y) {
      double terms[kMaxBeliefStates], max_term = kLogZero, sum = 0;
      for (unsigned x = 0; x < states_; ++x) {
        terms[x] = others.zeros[x] == 0 ? others.log[x] + factor(x, y, weight) : kLogZero;
        max_term = std::max(max_term, terms[x]);
      }
      for (unsigned x = 0; x < states_ && !std::isinf(max_term); ++x) sum += std::exp2(terms[x] - max_term);
      message[y] = std::isinf(max_term) ? kLogZero : max_term + std::log2(sum);
    }
    normalise(message, states_);
  }

  /// Returns the largest deviation of a belief; fails if it exceeds `tolerance`.
  double require_near(Vertex v, const Product& expected, double tolerance, const char* source) const {
    double parts[kMaxBeliefStates], largest = 0;
    for (unsigned x = 0; x < states_; ++x)
      parts[x] = expected.zeros[x] == 0 ? expected.log[x] : -std::numeric_limits<double>::infinity();
    normalise(parts, states_);
    for (unsigned x = 0; x < states_; ++x) {
      const auto belief = static_cast<double>(result_.beliefs[std::uint64_t{v} * states_ + x]);
      const double deviation = std::abs(belief - std::exp2(parts[x]));
      require(deviation <= tolerance, "vertex {} has belief {} in state {}, but by {} it would be {}", v,
              belief, x, source, std::exp2(parts[x]));
      largest = std::max(largest, deviation);
    }
    return largest;
  }

  const Graph& graph_;
  const BeliefModel& model_;
  const BeliefResult& result_;
  Communicator* ranks_;
  unsigned threads_, states_;
  OwnedRows own_rows_;
  std::vector<double> coupling_;            ///< [states][states] log2, scaled so that the largest is 0
  HostArray<double> logs_;                  ///< [vertices][states] of priors and received messages
  HostArray<std::uint32_t> zeros_;          ///< [vertices][states]
  std::atomic<std::uint64_t> hash_difference_ =
      0;  ///< sum of received messages' hashes less that of sent ones'
};

}  // namespace

double verify_beliefs(const Graph& graph, const BeliefModel& model, const BeliefResult& result,
                      double tolerance, double damping, Communicator* ranks, unsigned threads) {
  if (graph.vertices() > 0 && result.messages == nullptr)
    throw UsageError("verify_beliefs: messages were not saved (set BeliefOptions::keep_messages)");
  BeliefCheck check(graph, model, result, ranks, threads);
  if (host_budget().counts_only()) return 0;
  const double change = check.run(tolerance, damping);
  wait_for_checks(ranks);
  return change;
}

}  // namespace sluice::acc

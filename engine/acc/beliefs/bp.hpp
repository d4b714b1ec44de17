// Belief propagation: sum-product messages on a pairwise Markov random field (Pearl, 1988; loopy: Murphy,
// Weiss, Jordan, 1999). The message from u to v is, for every state y of v,
//   sum over x of prior(u, x) C(x, y)^w times the messages for x that u received from all but v.
// Messages are stored as fixed-point logarithms. The product of the messages that a vertex received is then a
// sum of integers, from which v's own message can be subtracted exactly. So no order of multiplication can
// change a bit, the cost of a hub is linear in its edges, and nothing under- or overflows. A message of zero
// (the coupling may have zeros) is counted beside the sums.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "engine/acc/exact_math.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::acc {

inline constexpr unsigned kMaxBeliefStates = 32;
/// Parts of a message or prior below 2^-1000 count as 2^-1000, unless they are zero.
inline constexpr double kMinLog = -1000;

/// The product of the messages that a vertex received for one of its states.
struct LogProduct {
  std::int64_t log = 0;    ///< in units of 2^-shift
  std::int64_t zeros = 0;  ///< number of zero factors

  SLUICE_HD void multiply(const LogProduct& other) { log += other.log, zeros += other.zeros; }
  SLUICE_HD void divide(const LogProduct& other) { log -= other.log, zeros -= other.zeros; }
};

/// Trivially copyable; all pointers are to host, or all to device memory. Edge e is a position in the lists
/// of an undirected graph, and reverse[e] is the edge in the other direction: e for a self-loop. If the
/// target is on another rank, reverse[e] is the place of a copy of that edge's message, after the rank's own
/// messages.
///
/// If `kStates` is not 0, it is the number of states as a compile-time constant: arrays then stay in
/// registers instead of local memory.
struct BeliefPropagation {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::int64_t kZero = std::numeric_limits<std::int64_t>::min();

  unsigned states = 2;
  int shift = 40;
  double damping = 0;
  const double* coupling = nullptr;    ///< [states][states] log2, at most 0; -inf: zero
  const float* weights = nullptr;      ///< [edges], or null: all 1
  const EdgeIndex* reverse = nullptr;  ///< [edges]
  const LogProduct* priors = nullptr;  ///< [vertices][states]
  const LogProduct* old_products = nullptr;  ///< [vertices][states] products of priors and messages
  const std::int64_t* received = nullptr;  ///< [edges][states] message from the neighbour at e, or kZero
  LogProduct* products = nullptr;
  std::int64_t* incoming = nullptr;
  double* beliefs = nullptr;  ///< [vertices][states]

  SLUICE_HD double unit() const { return exact::from_bits(static_cast<std::uint64_t>(1023 - shift) << 52); }
  SLUICE_HD double per_unit() const {
    return exact::from_bits(static_cast<std::uint64_t>(1023 + shift) << 52);
  }
  SLUICE_HD std::int64_t fixed(double log) const {
    return exact::nearest(exact::multiply(log < kMinLog ? kMinLog : log, per_unit()));
  }
  SLUICE_HD double real(std::int64_t log) const { return exact::multiply(static_cast<double>(log), unit()); }
  SLUICE_HD static LogProduct factor(std::int64_t message) {
    return message == kZero ? LogProduct{0, 1} : LogProduct{message, 0};
  }

  SLUICE_HD double weight(EdgeIndex e) const {
    return weights == nullptr ? 1.0 : static_cast<double>(weights[e]);
  }
  /// log2 of C(x, y)^weight.
  SLUICE_HD double coupling_log(unsigned x, unsigned y, double weight) const {
    return weight == 0 ? 0 : exact::multiply(weight, coupling[x * states + y]);
  }

  SLUICE_HD static bool is_zero(double log) { return !(log > -1e300); }

  /// Compute: the message of u along edge e of v's list. Returns false if u has no state left.
  template <unsigned kStates>
  SLUICE_HD bool compute(Vertex u, EdgeIndex e) const {
    const unsigned count = kStates != 0 ? kStates : states;
    return send<kStates>(old_products + std::uint64_t{u} * count, received + reverse[e] * count, weight(e),
                         received + e * count, incoming + e * count);
  }

  /// Writes to `next` the message of a vertex with these products, which received `reverse_message` along the
  /// same edge. `previous` is its previous message; `next` may be the same place.
  template <unsigned kStates>
  SLUICE_HD bool send(const LogProduct* sender_products, const std::int64_t* reverse_message, double weight,
                      const std::int64_t* previous, std::int64_t* next) const {
    constexpr unsigned kMaxStates = kStates != 0 ? kStates : kMaxBeliefStates;
    const unsigned count = kStates != 0 ? kStates : states;
    double others[kMaxStates], message[kMaxStates];
    std::int64_t max_log = kZero;
    for (unsigned x = 0; x < count; ++x) {
      LogProduct product = sender_products[x];
      product.divide(factor(reverse_message[x]));
      if (product.zeros == 0 && product.log > max_log) max_log = product.log;
    }
    if (max_log == kZero) return false;
    double highest = -kInfinity;
    for (unsigned x = 0; x < count; ++x) {
      LogProduct product = sender_products[x];
      product.divide(factor(reverse_message[x]));
      others[x] = product.zeros == 0 ? real(product.log - max_log) : -kInfinity;
      for (unsigned y = 0; y < count; ++y) {
        const double log = exact::add(others[x], coupling_log(x, y, weight));
        if (log > highest) highest = log;
      }
    }
    if (is_zero(highest)) return false;
    for (unsigned y = 0; y < count; ++y) message[y] = weighted_sum<kStates>(others, highest, y, weight);
    store_message<kStates>(message, previous, next);
    return true;
  }

  /// Combine: multiplies v's prior and the messages along its edges [begin, end). Returns finish() to the
  /// group's first lane, 0 to others. Products are sums of integers: lanes may share a list. `message_of(e)`
  /// is the index in `incoming` of e's message: e itself if messages are in order of the lists.
  template <class Group, class MessageOf = std::identity>
  SLUICE_HD double combine(const Group& group, Vertex v, EdgeIndex begin, EdgeIndex end,
                           const MessageOf& message_of = {}) const {
    for (unsigned x = 0; x < states; ++x) {
      LogProduct product;
      for (EdgeIndex e = begin + group.rank(); e < end; e += Group::kSize)
        product.multiply(factor(incoming[message_of(e) * states + x]));
      product = {group.sum(product.log), group.sum(product.zeros)};
      const std::uint64_t at = std::uint64_t{v} * states + x;
      product.multiply(priors[at]);
      if (group.rank() == 0) products[at] = product;
    }
    return group.rank() == 0 ? finish(v) : 0;
  }

  /// Updates v's beliefs from its products; returns the largest change, or -1 if v has no state left.
  SLUICE_HD double finish(Vertex v) const {
    const LogProduct* vertex_products = products + std::uint64_t{v} * states;
    double* current = beliefs + std::uint64_t{v} * states;
    std::int64_t max_log = kZero;
    for (unsigned x = 0; x < states; ++x)
      if (vertex_products[x].zeros == 0 && vertex_products[x].log > max_log) max_log = vertex_products[x].log;
    if (max_log == kZero) return -1;
    double sum = 0, change = 0;
    for (unsigned x = 0; x < states; ++x) sum = exact::add(sum, scaled(vertex_products[x], max_log));
    for (unsigned x = 0; x < states; ++x) {
      const double belief = exact::divide(scaled(vertex_products[x], max_log), sum);
      const double difference = belief > current[x] ? belief - current[x] : current[x] - belief;
      if (difference > change) change = difference;
      current[x] = belief;
    }
    return change;
  }

 private:
  SLUICE_HD double scaled(const LogProduct& product, std::int64_t max_log) const {
    return product.zeros == 0 ? exact::power2(real(product.log - max_log)) : 0;
  }

  /// The sum over x, in units of the highest term; a nonzero sum stays above zero.
  template <unsigned kStates>
  SLUICE_HD double weighted_sum(const double* others, double highest, unsigned y, double weight) const {
    const unsigned count = kStates != 0 ? kStates : states;
    double sum = 0;
    bool any = false;
    for (unsigned x = 0; x < count; ++x) {
      const double log = exact::add(others[x], coupling_log(x, y, weight));
      if (is_zero(log)) continue;
      any = true;
      sum = exact::add(sum, exact::power2(exact::add(log, -highest)));
    }
    const double min_sum = exact::power2(kMinLog);
    return any && sum < min_sum ? min_sum : sum;
  }

  /// Normalises, damps and stores a message.
  template <unsigned kStates>
  SLUICE_HD void store_message(const double* message, const std::int64_t* previous,
                               std::int64_t* next) const {
    const unsigned count = kStates != 0 ? kStates : states;
    double sum = 0;
    for (unsigned y = 0; y < count; ++y) sum = exact::add(sum, message[y]);
    for (unsigned y = 0; y < count; ++y) {
      double value = exact::divide(message[y], sum);
      if (damping > 0) {
        const double previous_value = previous[y] == kZero ? 0 : exact::power2(real(previous[y]));
        value = exact::add(exact::multiply(undamped(), value), exact::multiply(damping, previous_value));
      }
      next[y] = value > 0 ? fixed(exact::log2(value)) : kZero;
    }
  }
  SLUICE_HD double undamped() const { return exact::add(1, -damping); }
};

/// Calls use(std::integral_constant<unsigned, kStates>), with kStates 0 beyond 4 states.
template <class Use>
void dispatch_states(unsigned states, Use&& use) {
  switch (states) {
    case 2:
      return use(std::integral_constant<unsigned, 2>{});
    case 3:
      return use(std::integral_constant<unsigned, 3>{});
    case 4:
      return use(std::integral_constant<unsigned, 4>{});
    default:
      return use(std::integral_constant<unsigned, 0>{});
  }
}

}  // namespace sluice::acc

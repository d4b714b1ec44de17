// Aggregations over whole lists on the host: in each round every vertex hears from all its neighbours, as in
// PageRank or belief propagation. Threads take ranges of vertices that hold about equally many edges. Once
// few vertices send other than they did, those of a program of sums push what differs (SIMD-X, section 5, has
// PageRank pull first and push later; there what changes little is not sent any more, here nothing is lost).
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/exec/thread_pool.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Goes through all vertices, again and again.
class GatherRounds {
 public:
  GatherRounds(const CsrView& lists, unsigned threads) : crew_(threads) {
    const std::uint64_t all = lists.edges + lists.vertices,
                        wanted = all / (crew_.size() * kRangesPerThread) + 1;
    boundaries_.push_back(0);
    for (std::uint64_t v = 0, cost = 0; v < lists.vertices; ++v) {
      cost += 1 + lists.offsets[v + 1] - lists.offsets[v];
      if (cost >= wanted) boundaries_.push_back(v + 1), cost = 0;
    }
    if (boundaries_.back() != lists.vertices) boundaries_.push_back(lists.vertices);
  }

  /// Calls body(begin, end) for ranges of vertices, on all threads.
  template <class Body>
  void over_ranges(Body&& body) {
    crew_.blocks(boundaries_.size() - 1, 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t range = begin; range < end; ++range)
        body(boundaries_[range], boundaries_[range + 1]);
    });
  }

  /// Calls body(v) for every vertex; returns the largest of what it returns, or -1 if that was ever negative.
  template <class Body>
  double round(Body&& body) {
    std::vector<double> largest(boundaries_.size() - 1, 0.0);
    crew_.blocks(largest.size(), 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t range = begin; range < end; ++range) {
        double most = 0;
        for (std::uint64_t v = boundaries_[range]; v < boundaries_[range + 1]; ++v) {
          const double change = body(static_cast<Vertex>(v));
          if (change < 0) most = -1;
          if (most >= 0 && change > most) most = change;
        }
        largest[range] = most;
      }
    });
    if (largest.empty()) return 0;
    const auto [low, high] = std::minmax_element(largest.begin(), largest.end());
    return *low < 0 ? -1 : *high;
  }

 private:
  static constexpr std::uint64_t kRangesPerThread = 16;

  Crew crew_;
  std::vector<std::uint64_t> boundaries_;
};

template <GatherProgram Program>
class HostGather {
  using State = typename Program::State;

 public:
  HostGather(const AccGraph& graph, const Program& program, const AccOptions& options)
      : graph_(graph),
        program_(program),
        options_(options),
        rounds_(graph.in(), graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        sent_(graph.device(), graph.vertices(), "what vertices send"),
        next_sent_(graph.device(), graph.vertices(), "what vertices send") {
    if (!SumGatherProgram<Program> || options.direction == AccDirection::pull) return;
    sums_ = Buffer<State>(graph.device(), graph.vertices(), "what vertices heard");
    std::fill_n(sums_.data(), sums_.size(), State{0});
  }

  void run(AccStats& stats) {
    std::fill_n(sent_.data(), sent_.size(), State{0});
    std::uint64_t changed = put_all([&](Vertex v) { return program_.init(v, degree(v)); });
    for (stats.converged = false; !stats.converged && at_.round <= options_.most_rounds; ++at_.round) {
      const bool push = !sums_.empty() && gather_pushes(options_, changed, graph_.in().edges);
      const std::uint64_t edges = push ? changed : graph_.in().edges;
      if (push) push_differences();
      std::atomic<std::uint64_t> active{0};
      changed = put_all([&](Vertex v) {
        const State before = states_.data()[v],
                    now = program_.finish(before, push ? sums_.data()[v] : hear(v));
        if (program_.active(now, before)) active.fetch_add(1, std::memory_order_relaxed);
        return now;
      });
      stats.converged = active == 0;
      stats.add({.pull = !push, .active = active, .edges = edges});
    }
  }

  const State* states() const { return states_.data(); }

 private:
  std::uint64_t degree(Vertex v) const { return graph_.out().offsets[v + 1ull] - graph_.out().offsets[v]; }

  State gather(Vertex v) const {
    const CsrView& in = graph_.in();
    State sum{};
    for (EdgeIndex e = in.offsets[v]; e < in.offsets[v + 1ull]; ++e)
      sum = program_.combine(sum, program_.compute({in.targets[e], v, e, at_, sent_.data(), in.weights}));
    return sum;
  }

  State hear(Vertex v) {
    const State sum = gather(v);
    if (!sums_.empty()) sums_.data()[v] = sum;
    return sum;
  }

  /// Makes the sums of the last round those of this one.
  void push_differences() {
    const CsrView& out = graph_.out();
    rounds_.over_ranges([&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t v = begin; v < end; ++v) {
        const auto more = static_cast<State>(sent_.data()[v] - next_sent_.data()[v]);
        if (more == 0) continue;
        for (EdgeIndex e = out.offsets[v]; e < out.offsets[v + 1]; ++e)
          std::atomic_ref<State>(sums_.data()[out.targets[e]]).fetch_add(more, std::memory_order_relaxed);
      }
    });
  }

  /// Gives every vertex the state that state_of(v) says, and what follows from it. Returns how many edges
  /// lead from those that send something else than before.
  template <class StateOf>
  std::uint64_t put_all(StateOf&& state_of) {
    std::atomic<State> carried{0};
    std::atomic<std::uint64_t> changed{0};
    rounds_.over_ranges([&](std::uint64_t begin, std::uint64_t end) {
      State mine{};
      std::uint64_t edges = 0;
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto v = static_cast<Vertex>(i);
        const State now = state_of(v);
        states_.data()[v] = now;
        const State sends = program_.send(now, degree(v));
        next_sent_.data()[v] = sends;
        if (sends != sent_.data()[v]) edges += degree(v);
        mine += program_.carry(now, degree(v));
      }
      carried.fetch_add(mine, std::memory_order_relaxed);
      changed.fetch_add(edges, std::memory_order_relaxed);
    });
    std::swap(sent_, next_sent_);
    program_.begin(carried);
    return changed;
  }

  const AccGraph& graph_;
  Program program_;
  AccOptions options_;
  GatherRounds rounds_;
  Buffer<State> states_;
  Buffer<State> sent_, next_sent_;  ///< of this round and of the one before, once all states are put
  Buffer<State> sums_;              ///< empty: every round pulls
  AccRound at_{1, 0};
};

}  // namespace sluice::acc

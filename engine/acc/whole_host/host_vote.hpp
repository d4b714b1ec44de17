// Votes on the host: rounds that push from a worklist or pull into what is not settled yet
// (vote_direction.hpp). Pulls take 64 vertices at a time from the bits of those settled, and stop at a
// vertex's first neighbour that is active.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/acc/whole_host/host_bits.hpp"
#include "engine/acc/whole_host/host_pull.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <VoteProgram Program>
class HostVote {
  using State = typename Program::State;

 public:
  HostVote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : graph_(graph),
        program_(program),
        options_(options),
        pool_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        front_(graph.device(), graph.vertices(), "worklist"),
        next_(graph.device(), graph.vertices(), "worklist"),
        settled_(graph.device(), graph.vertices(), "settled vertices"),
        front_bits_(graph.device(), graph.vertices(), "active vertices"),
        next_bits_(graph.device(), graph.vertices(), "active vertices"),
        counts_(pool_.size()) {}

  void run(AccStats& stats) {
    start();
    bool pulling = false;
    for (std::uint64_t before = 0; active_ > 0; ++at_.round) {
      const bool pull = wants_pull(pulling, before);
      if (pull && !pulling) list_to_bits();
      if (!pull && pulling) bits_to_list();
      pulling = pull;
      AccRoundTrace trace{.pull = pull, .refilled = false, .active = active_};
      before = active_;
      left_edges_ -= std::min(left_edges_, active_edges_);
      pull ? pull_round() : push_round();
      trace.edges = take_counts();
      stats.add(trace);
    }
  }

  const State* states() const { return states_.data(); }

 private:
  static constexpr std::uint64_t kWordsAtOnce = 64;
  static constexpr std::uint64_t kVerticesAtOnce = 64;
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;
  /// A pull looks at the beginning of a list, which is asked for so many vertices before.
  static constexpr Vertex kListsAhead = 8;

  /// What one thread has found in a round.
  struct alignas(64) Counts {
    std::uint64_t edges = 0, active = 0, active_edges = 0;
  };

  std::uint64_t degree(Vertex v) const { return graph_.out().offsets[v + 1] - graph_.out().offsets[v]; }

  void start() {
    pool_.blocks(graph_.vertices(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   Worklist::Appender append(front_);
                   for (std::uint64_t i = begin; i < end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     states_.data()[v] = program_.init(v, degree(v));
                     if (program_.settled(states_.data()[v])) settled_.add(v);
                     if (program_.starts(v)) append(v), note(counts_[thread], v);
                   }
                 });
    left_edges_ = graph_.out().edges;
    take_counts();
  }

  static void add(Counts& to, const Counts& more) {
    to.edges += more.edges, to.active += more.active, to.active_edges += more.active_edges;
  }

  void note(Counts& counts, Vertex v) const { ++counts.active, counts.active_edges += degree(v); }

  /// The next round's active vertices and their edges; returns how many edges this one looked at.
  std::uint64_t take_counts() {
    Counts all;
    for (Counts& counts : counts_) add(all, std::exchange(counts, {}));
    active_ = all.active, active_edges_ = all.active_edges;
    return all.edges;
  }

  bool wants_pull(bool pulling, std::uint64_t before) const {
    if (graph_.in().offsets == nullptr) return false;
    if (options_.direction != AccDirection::automatic) return options_.direction == AccDirection::pull;
    if (!pulling) return begins_to_pull(active_edges_, left_edges_);
    return keeps_pulling(active_, before, graph_.vertices());
  }

  void list_to_bits() {
    front_bits_.clear();
    pool_.blocks(front_.size(), kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) front_bits_.add(front_[i]);
    });
  }

  void bits_to_list() {
    front_.clear();
    pool_.blocks(front_bits_.words(), kWordsAtOnce * 16,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                   Worklist::Appender append(front_);
                   for (std::uint64_t w = begin; w < end; ++w)
                     for_each_bit(front_bits_.word(w),
                                  [&](unsigned bit) { append(static_cast<Vertex>(w * kWordBits + bit)); });
                 });
  }

  void push_round() {
    next_.clear();
    const CsrView& out = graph_.out();
    pool_.blocks(front_.size(), kVerticesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   Worklist::Appender append(next_);
                   Counts counts;
                   for (std::uint64_t i = begin; i < end; ++i) {
                     const Vertex u = front_[i];
                     counts.edges += out.offsets[u + 1] - out.offsets[u];
                     for (EdgeIndex e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
                       const Vertex v = out.targets[e];
                       if (settled_.test(v)) continue;
                       const State value = program_.compute({u, v, e, at_, states_.data(), out.weights});
                       if (combine_into(program_, states_.data() + v, value, at_).active)
                         append(v), note(counts, v);
                     }
                   }
                   add(counts_[thread], counts);
                 });
    // Only now: until the round ends, further values may still improve what one has settled.
    pool_.blocks(next_.size(), kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) settled_.add(next_[i]);
    });
    swap(front_, next_);
  }

  void pull_round() {
    const std::uint64_t n = graph_.vertices();
    pool_.blocks(settled_.words(), kWordsAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   Counts counts;
                   for (std::uint64_t w = begin; w < end; ++w) {
                     std::uint64_t found = 0;
                     for_each_bit(settled_.missing_of_word(w, 0, n), [&](unsigned bit) {
                       if (pull(static_cast<Vertex>(w * kWordBits + bit), counts))
                         found |= std::uint64_t{1} << bit;
                     });
                     next_bits_.word(w) = found;
                     settled_.word(w) |= found;
                   }
                   add(counts_[thread], counts);
                 });
    std::swap(front_bits_, next_bits_);
  }

  bool pull(Vertex v, Counts& counts) {
    const CsrView& in = graph_.in();
    if (v + kListsAhead < in.vertices) __builtin_prefetch(in.targets + in.offsets[v + kListsAhead]);
    const InList list{v, in.offsets[v], in.offsets[v + 1], in.targets, in.weights};
    const bool active = pull_first(program_, at_, list, front_bits_, states_.data(), counts.edges);
    if (active) note(counts, v);
    return active;
  }

  const AccGraph& graph_;
  Program program_;
  AccOptions options_;
  ThreadPool pool_;
  Buffer<State> states_;
  Worklist front_, next_;
  VertexBits settled_, front_bits_, next_bits_;
  std::vector<Counts> counts_;  ///< [threads]
  AccRound at_{1, 0};
  std::uint64_t active_ = 0, active_edges_ = 0;  ///< of the worklist
  std::uint64_t left_edges_ = 0;                 ///< of vertices that were not active yet
};

}  // namespace sluice::acc

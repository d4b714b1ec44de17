// One step of a walk, written once for host and device. A step is a proposal and its settlement. If proposals
// can be rejected, each trial is one round of the walk's state machine: walks advanced side by side (lanes of
// a warp, or the host's interleaved walks) then need not wait for each other's trials.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"
#include "engine/graph/residency.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/select/tables.hpp"
#include "engine/walks/sampler.hpp"

namespace sluice::walks {

/// How a proposal is accepted as a step.
enum class Acceptance {
  always,     ///< the table draws from the exact distribution
  fixed,      ///< rejection: the edge's fixed bias against a bound for each list
  dynamic,    ///< rejection: the sampler's dynamic bias against its bound
  transform,  ///< no proposal: inverse transform over the whole list at every step
};

/// Trials after which rejection gives up and inverse transform draws the step. The constant is part of the
/// definition of the draws.
inline constexpr std::uint32_t kMaxTrials = 64;

enum class Round {
  moved,     ///< the step is done
  rejected,  ///< try again
  scan,      ///< the list must be scanned: see transform_list
  ended,     ///< dead end
  absent,    ///< a needed list is not present; the proposal stands
};

/// Counters of the work of walks.
struct WalkTotals {
  std::uint64_t steps = 0, rounds = 0;
  std::uint64_t in_place_bytes = 0;  ///< bytes read in place

  void add_to(RunStats& stats) const {
    stats.steps += steps, stats.selections += steps, stats.selection_iterations += rounds;
    stats.mapped_bytes += in_place_bytes;
  }
};

/// State of a walk between proposal and settlement.
struct Proposal {
  Probe probe;
  Hop hop;  ///< the edge that `probe` found
  Vertex redirected = kNoVertex;
  bool located = false;
};

/// Everything that a step needs, passed by value.
template <WalkSampler Sampler, class Table, Acceptance kAcceptance>
struct WalkProgram {
  using Walker = walks::Walker;
  static constexpr bool kEndsOnly = false;  ///< see partitioned.hpp

  GraphView graph;
  Sampler sampler;
  Table table;
  const std::uint64_t* bounds = nullptr;  ///< [vertices] bound of each list, for Acceptance::fixed
  std::uint64_t seed = 1;

  static constexpr bool kTrials = kAcceptance == Acceptance::fixed || kAcceptance == Acceptance::dynamic;
  static constexpr bool kScans = kAcceptance != Acceptance::always;
  static constexpr bool kQuestions = HasQuestion<Sampler>;
  static constexpr bool kReadsDrawnEdge = walks::kReadsDrawnEdge<Sampler>;
  static constexpr bool kRedirects = HasRedirect<Sampler>;
  static constexpr bool kUpdates = HasUpdate<Sampler>;
  // If the table leaves the high word of the selection's random block unused, redirect or update uses it.
  static constexpr bool kSpare = kAcceptance == Acceptance::always && Table::kSpareWord;

  // Draw indices of Stream::update in a step: redirect uses 0. Draws that may follow it have their own.
  static constexpr std::uint32_t kUpdateDraw = kRedirects ? 1 : 0;
  static constexpr std::uint32_t kDeadEndDraw = 2;

  SLUICE_HD WalkDraws draws(const Walker& walker) const {
    return {seed, planted(Fault::reused_counter) ? walker.step / 2 : walker.step, walker.instance};
  }

  SLUICE_HD void propose(const Walker& walker, Proposal& proposal) const {
    const WalkDraws random = draws(walker);
    const PhiloxBlock block =
        kTrials ? random.block(Stream::trial, walker.trial) : random.block(Stream::select);
    if constexpr (kRedirects) {
      const PhiloxBlock extra = kSpare && !kUpdates ? block : random.block(Stream::update);
      proposal.redirected =
          walker.trial == 0 ? sampler.redirect(graph, walker, extra, walker.row.degree == 0) : kNoVertex;
      if (proposal.redirected != kNoVertex) {
        prefetch(graph.csr.offsets + proposal.redirected);
        return;
      }
    }
    if constexpr (kAcceptance == Acceptance::transform) {
      proposal.located = walker.row.degree != 0;
    } else {
      proposal.located = table.locate(graph, walker.current, walker.row, block, proposal.probe);
      if constexpr (kAcceptance == Acceptance::fixed) proposal.located &= bounds[walker.current] > 0;
      proposal.probe.random = block.high();
      if (proposal.located) table.prefetch_probe(graph, proposal.probe);
    }
  }

  /// Completes the proposed step. `lists` answers the sampler's question.
  template <class Lists = Whole>
  SLUICE_HD Round settle(Walker& walker, Proposal& proposal, const Lists& lists = {}) const {
    if constexpr (kRedirects) {
      if (proposal.redirected != kNoVertex)
        return move_to(walker, proposal.redirected, graph.row(proposal.redirected));
    }
    if (!proposal.located) return handle_dead_end(walker);
    if constexpr (kAcceptance == Acceptance::transform) {
      return Round::scan;
    } else {
      proposal.hop = table.resolve(graph, proposal.probe);
      if (proposal.hop.target == kNoVertex) return handle_dead_end(walker);
      return accept_or_reject(walker, proposal, lists);
    }
  }

  /// Accepts or rejects the proposed edge; the walker's own list need not be present.
  template <class Lists>
  SLUICE_HD Round accept_or_reject(Walker& walker, const Proposal& proposal, const Lists& lists) const {
    if constexpr (kTrials) {
      const Answer accepted = accept(walker, proposal.hop, lists);
      if (accepted == Answer::unknown) return Round::absent;
      if (accepted == Answer::no) return ++walker.trial < kMaxTrials ? Round::rejected : Round::scan;
    }
    return traverse(walker, proposal.hop, proposal.probe.random);
  }

  /// Draws by inverse transform over the whole list, by a group of lanes that all have the same walker. Sums
  /// are exact in 128 bits; the draw is one 128-bit block. All lists that questions are about must be
  /// present.
  template <class Group, class Lists = Whole>
  SLUICE_HD Round transform_list(const Group& group, Walker& walker, const Lists& lists = {}) const {
    using Wide = unsigned __int128;
    const Row& row = walker.row;
    Wide lane_sum = 0;
    for (std::uint32_t i = group.rank(); i < row.degree; i += Group::kSize)
      lane_sum += bias_at(walker, row.offset + i, lists);
    const Wide total = group.sum(lane_sum);
    if (total == 0) return handle_dead_end(walker);
    const PhiloxBlock block = draws(walker).block(Stream::fallback);
    const Wide x = uniform_index(block.high(), block.low(), total);
    const auto bias = [&](std::uint32_t i) { return bias_at(walker, row.offset + i, lists); };
    const EdgeIndex position = row.offset + first_sum_above(group, row.degree, x, bias).index();
    const Vertex target = graph.target(position);
    return traverse(walker, {target, graph.row(target), position}, random_of_update(walker));
  }

  /// Bytes of a list that a proposal reads.
  SLUICE_HD static std::uint32_t draw_bytes(const Row& row) {
    if constexpr (kAcceptance == Acceptance::transform) {
      return 0;
    } else {
      return Table::read_bytes(row) + (kAcceptance == Acceptance::fixed ? kWeightBytes : 0);
    }
  }

  /// The vertex whose list, beside the walker's own, must be present for a scan; kNoVertex if none.
  SLUICE_HD Vertex second_list(const Walker& walker) const {
    if constexpr (HasQuestion<Sampler>) return sampler.question(walker, {walker.current}).from;
    return kNoVertex;
  }

 private:
  template <class Lists>
  SLUICE_HD Answer answer_question(const Walker& walker, const Edge& edge, const Lists& lists) const {
    if constexpr (HasQuestion<Sampler>) {
      const Question question = sampler.question(walker, edge);
      if (question.from != kNoVertex) return lists.has_edge(graph, question.from, question.to);
    }
    return Answer::no;
  }

  SLUICE_HD std::uint64_t dynamic_bias(const Walker& walker, const Edge& edge, Answer answer) const {
    if constexpr (HasQuestion<Sampler>) {
      return sampler.dynamic_bias(graph, walker, edge, answer == Answer::yes);
    } else {
      return sampler.dynamic_bias(graph, walker, edge);
    }
  }

  template <class Lists>
  SLUICE_HD unsigned __int128 bias_at(const Walker& walker, EdgeIndex position, const Lists& lists) const {
    const Edge edge{walker.current, graph.target(position), position};
    unsigned __int128 bias = 1;
    if constexpr (HasEdgeBias<Sampler>) bias = sampler.edge_bias(graph, edge);
    if constexpr (HasDynamicBias<Sampler>)
      bias *= dynamic_bias(walker, edge, answer_question(walker, edge, lists));
    return bias;
  }

  template <class Lists>
  SLUICE_HD Answer accept(const Walker& walker, const Hop& hop, const Lists& lists) const {
    const Edge edge{walker.current, hop.target, hop.position};
    const std::uint64_t random = draws(walker).block(Stream::accept, walker.trial).low();
    bool accepted = false;
    if constexpr (kAcceptance == Acceptance::fixed) {
      accepted = uniform_index(random, bounds[walker.current]) < sampler.edge_bias(graph, edge);
    } else {
      const std::uint64_t x = uniform_index(random, sampler.bias_bound());
      if constexpr (HasFloor<Sampler>) {
        if (x < sampler.bias_floor()) return Answer::yes;
      }
      const Answer answer = answer_question(walker, edge, lists);
      if (answer == Answer::unknown) return Answer::unknown;
      accepted = x < dynamic_bias(walker, edge, answer);
    }
    return accepted ? Answer::yes : Answer::no;
  }

  SLUICE_HD std::uint64_t random_of_update(const Walker& walker) const {
    return kUpdates ? draws(walker).block(Stream::update, kUpdateDraw).high() : 0;
  }

  SLUICE_HD Round traverse(Walker& walker, const Hop& hop, std::uint64_t spare_word) const {
    if constexpr (kUpdates) {
      const std::uint64_t random = kSpare ? spare_word : random_of_update(walker);
      const Edge edge{walker.current, hop.target, hop.position};
      const Vertex next = sampler.update(graph, walker, edge, {walker.row.degree, hop.row.degree}, random);
      if (next == walker.current) return move_to(walker, next, walker.row);
      if (next != hop.target) return move_to(walker, next, graph.row(next));
    }
    return move_to(walker, hop.target, hop.row);
  }

  SLUICE_HD Round handle_dead_end(Walker& walker) const {
    if constexpr (kRedirects) {
      const Vertex target =
          sampler.redirect(graph, walker, draws(walker).block(Stream::update, kDeadEndDraw), true);
      if (target != kNoVertex) return move_to(walker, target, graph.row(target));
    }
    return Round::ended;
  }

  SLUICE_HD Round move_to(Walker& walker, Vertex target, const Row& row) const {
    walker.previous = walker.current;
    walker.current = target;
    walker.row = row;
    walker.trial = 0;
    ++walker.step;
    return Round::moved;
  }
};

}  // namespace sluice::walks

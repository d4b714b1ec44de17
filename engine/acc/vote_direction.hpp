// Direction of a round, one for all ranks. A vote either pushes from active vertices or pulls into unsettled
// ones, whichever reads fewer edges (direction-optimizing search: Beamer, Asanovic, Patterson, SC'12),
// wherever the graph is. An aggregation chooses the direction that reads and writes less.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/core/macros.hpp"

namespace sluice::acc {

/// A push reads all edges of active vertices; a pull reads only some of the edges into unsettled vertices.
inline constexpr std::uint64_t kPullFactor = 15;
/// Towards the end few vertices are active, and a pull would read the lists of all vertices never reached.
inline constexpr std::uint64_t kPushFraction = 18;

/// Active vertices of a round, and their out-edges.
struct FrontierSize {
  std::uint64_t active = 0, edges = 0;
};

/// After a push: do the next active vertices have so many edges that a pull is less work? `remaining`: edges
/// of vertices that were not active before this front.
SLUICE_HD bool should_start_pull(std::uint64_t edges, std::uint64_t remaining) {
  return edges > remaining / kPullFactor;
}

/// After a pull with `previous` active vertices: are enough vertices active now to pull again?
SLUICE_HD bool should_repeat_pull(std::uint64_t active, std::uint64_t previous, std::uint64_t vertices) {
  return active >= previous || active > vertices / kPushFraction;
}

/// Direction after a round that `pulled` or pushed, if `frontier` is active in the next round.
SLUICE_HD bool should_pull_next(bool pulled, const FrontierSize& frontier, std::uint64_t previous,
                                std::uint64_t remaining, std::uint64_t vertices) {
  return pulled ? should_repeat_pull(frontier.active, previous, vertices)
                : should_start_pull(frontier.edges, remaining);
}

/// Cost of a pushed edge relative to a pulled one: a push reads a state and changes it by an atomic; a pull
/// reads a bit. Counted on Kronecker 16, with 1.8 M edges: k-core with k 256 pushes 1.8 M edges in all, and
/// its first round pulls 0.7 M; with k 64 it pushes 0.6 M, and the first round pulls 1.4 M. Pulling alone
/// reads 22 times the edges for distances, and 232 times for all cores.
inline constexpr std::uint64_t kPushCost = 2;

/// Should an aggregation pull? `edges`: of active vertices. `remaining`: edges into vertices whose states may
/// change. `states`: states that a pull reads.
SLUICE_HD bool pull_is_cheaper(std::uint64_t edges, std::uint64_t remaining, std::uint64_t states) {
  return kPushCost * edges > remaining + states;
}

/// The lowest level whose vertices may still change by values sent at level `level`. Parts of a sum change no
/// vertex at level `level`; a bound is never below `level`.
template <class Program>
SLUICE_HD std::uint64_t min_changeable_level(const Program&, std::uint64_t level) {
  return level + (Program::kRepeats ? 0 : 1);
}

template <class Program>
SLUICE_HD bool may_change(const Program& program, typename Program::State state, const AccRound& at) {
  return program.level(state) >= min_changeable_level(program, at.level);
}

/// Chooses a vote's direction over ranks. A push may activate other ranks' vertices, and only their owners
/// know how many. If even all of them were too few for a pull, no further exchange is made.
class VoteDirection {
 public:
  /// Starts before the first round, with `local` active on this rank. Rounds pull only if `can_pull` on all
  /// ranks. All ranks construct it together.
  VoteDirection(const RankPart& part, AccDirection requested, bool can_pull, std::uint64_t vertices,
                std::uint64_t edges, const FrontierSize& local)
      : ranks_(part.ranks()), vertices_(vertices), remaining_edges_(edges) {
    const bool needs_degree = requested == AccDirection::automatic && ranks_.size() > 1;
    std::array<std::uint64_t, 2> maxima{can_pull ? 0u : 1u, needs_degree ? part.largest_degree() : 0};
    ranks_.all_reduce(maxima, Reduce::max, "whether rounds can pull");
    largest_degree_ = maxima[1];
    is_automatic_ = requested == AccDirection::automatic && maxima[0] == 0;
    pulls_ = requested == AccDirection::pull && maxima[0] == 0;
    if (!is_automatic_) return;
    frontier_ = sum(local);
    pulls_ = should_start_pull(frontier_.edges, remaining_edges_);
  }

  bool pulls() const { return pulls_; }

  /// Chooses the direction of the next round, in which `local` are active on this rank; `total` is the work
  /// of the last round on all ranks. All ranks call it.
  void choose(const RoundWork& total, const FrontierSize& local) {
    if (!is_automatic_ || total.next == RoundWork::kNoBin) return;
    // A push has read all edges of active vertices.
    remaining_edges_ -= std::min(remaining_edges_, pulls_ ? frontier_.edges : total.edges);
    frontier_ = {total.found, total.found_edges};
    if (!pulls_ && total.sent > 0) {
      if (!should_start_pull(max_found_edges(total), remaining_edges_)) return;
      frontier_ = sum(local);
    }
    pulls_ = should_pull_next(pulls_, frontier_, total.active, remaining_edges_, vertices_);
  }

 private:
  FrontierSize sum(const FrontierSize& local) {
    std::array<std::uint64_t, 2> sums{local.active, local.edges};
    ranks_.all_reduce(sums, Reduce::sum, "active vertices and their edges");
    return {sums[0], sums[1]};
  }

  /// Upper bound of the next active vertices' edges; at most remaining_edges_.
  std::uint64_t max_found_edges(const RoundWork& total) const {
    if (total.sent > remaining_edges_ / std::max<std::uint64_t>(largest_degree_, 1)) return remaining_edges_;
    return total.found_edges + total.sent * largest_degree_;
  }

  Communicator& ranks_;
  std::uint64_t vertices_, remaining_edges_, largest_degree_ = 0;
  FrontierSize frontier_;
  bool is_automatic_ = false, pulls_ = false;
};

}  // namespace sluice::acc

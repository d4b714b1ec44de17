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
struct VoteFront {
  std::uint64_t active = 0, edges = 0;
};

/// After a push: do the next active vertices have so many edges that a pull is less work? `left`: edges of
/// vertices that were not active before this front.
SLUICE_HD bool begins_to_pull(std::uint64_t edges, std::uint64_t left) {
  return edges > left / kPullFactor;
}

/// After a pull with `before` active vertices: are enough vertices active now to pull again?
SLUICE_HD bool keeps_pulling(std::uint64_t active, std::uint64_t before, std::uint64_t vertices) {
  return active >= before || active > vertices / kPushFraction;
}

/// Direction after a round that `pulled` or pushed, if `front` is active in the next round.
SLUICE_HD bool pulls_next(bool pulled, const VoteFront& front, std::uint64_t before, std::uint64_t left,
                          std::uint64_t vertices) {
  return pulled ? keeps_pulling(front.active, before, vertices) : begins_to_pull(front.edges, left);
}

/// Cost of a pushed edge relative to a pulled one: a push reads a state and changes it by an atomic; a pull
/// reads a bit. Counted on Kronecker 16, with 1.8 M edges: k-core with k 256 pushes 1.8 M edges in all, and
/// its first round pulls 0.7 M; with k 64 it pushes 0.6 M, and the first round pulls 1.4 M. Pulling alone
/// reads 22 times the edges for distances, and 232 times for all cores.
inline constexpr std::uint64_t kPushedEdge = 2;

/// Should an aggregation pull? `edges`: of active vertices. `left`: edges into vertices whose states may
/// change. `states`: states that a pull reads.
SLUICE_HD bool less_to_pull(std::uint64_t edges, std::uint64_t left, std::uint64_t states) {
  return kPushedEdge * edges > left + states;
}

/// The lowest level whose vertices may still change by values sent at level `at`. Parts of a sum change no
/// vertex at level `at`; a bound is never below `at`.
template <class Program>
SLUICE_HD std::uint64_t lowest_to_change(const Program&, std::uint64_t at) {
  return at + (Program::kRepeats ? 0 : 1);
}

template <class Program>
SLUICE_HD bool may_change(const Program& program, typename Program::State state, const AccRound& at) {
  return program.level(state) >= lowest_to_change(program, at.level);
}

/// Chooses a vote's direction over ranks. A push may activate other ranks' vertices, and only their owners
/// know how many. If even all of them were too few for a pull, no further exchange is made.
class VoteDirection {
 public:
  /// Starts before the first round, with `own` active on this rank. Rounds pull only if `can_pull` on all
  /// ranks. All ranks construct it together.
  VoteDirection(const RankPart& rows, AccDirection asked, bool can_pull, std::uint64_t vertices,
                std::uint64_t edges, const VoteFront& own)
      : ranks_(rows.ranks()), vertices_(vertices), left_(edges) {
    const bool asks = asked == AccDirection::automatic && ranks_.size() > 1;
    std::array<std::uint64_t, 2> most{can_pull ? 0u : 1u, asks ? rows.largest_degree() : 0};
    ranks_.all_reduce(most, Reduce::max, "whether rounds can pull");
    largest_degree_ = most[1];
    chooses_ = asked == AccDirection::automatic && most[0] == 0;
    pulls_ = asked == AccDirection::pull && most[0] == 0;
    if (!chooses_) return;
    front_ = sum(own);
    pulls_ = begins_to_pull(front_.edges, left_);
  }

  bool pulls() const { return pulls_; }

  /// Chooses the direction of the next round, in which `own` are active on this rank; `all` is the work of
  /// the last round on all ranks. All ranks call it.
  void choose(const RoundWork& all, const VoteFront& own) {
    if (!chooses_ || all.next == RoundWork::kNothing) return;
    // A push has read all edges of active vertices.
    left_ -= std::min(left_, pulls_ ? front_.edges : all.edges);
    front_ = {all.found, all.found_edges};
    if (!pulls_ && all.sent > 0) {
      if (!begins_to_pull(at_most(all), left_)) return;
      front_ = sum(own);
    }
    pulls_ = pulls_next(pulls_, front_, all.active, left_, vertices_);
  }

 private:
  VoteFront sum(const VoteFront& own) {
    std::array<std::uint64_t, 2> sums{own.active, own.edges};
    ranks_.all_reduce(sums, Reduce::sum, "active vertices and their edges");
    return {sums[0], sums[1]};
  }

  /// Upper bound of the next active vertices' edges; at most left_.
  std::uint64_t at_most(const RoundWork& all) const {
    if (all.sent > left_ / std::max<std::uint64_t>(largest_degree_, 1)) return left_;
    return all.found_edges + all.sent * largest_degree_;
  }

  Communicator& ranks_;
  std::uint64_t vertices_, left_, largest_degree_ = 0;
  VoteFront front_;
  bool chooses_ = false, pulls_ = false;
};

}  // namespace sluice::acc

// Merges over ranks: the trees of two ranks become one's, until one has them all. Half of the ranks are done
// after each step.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/acc/forest.hpp"
#include "engine/acc/rounds/entry_exchange.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/executor.hpp"

namespace sluice::acc {

/// Makes the root of every vertex its state. Where the smaller root stays, ways lead to vertices whose turn
/// has come before.
struct Compress {
  static constexpr bool kInOrder = true;

  Vertex* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t v, Lane&) const {
    compress(states, static_cast<Vertex>(v));
  }
};

/// Vertex begin + i is in the tree of others[i] on another rank.
template <class Program>
struct JoinTrees {
  Program program;
  Vertex* states;
  const Vertex* others;
  std::uint64_t begin;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const auto v = static_cast<Vertex>(begin + i);
    if (others[i] != v) acc::join(program, states, v, others[i]);
  }
};

class RankForests {
 public:
  /// Keeps references.
  RankForests(const Device& device, const RankPart& rows, std::uint64_t vertices)
      : ranks_(static_cast<std::size_t>(rows.ranks().size())),
        rank_(static_cast<std::size_t>(rows.ranks().rank())),
        vertices_(vertices),
        piece_(std::clamp<std::uint64_t>(Router::kPieceBytes / sizeof(Vertex), 1, vertices)),
        others_(device, ranks_ > 1 ? piece_ : 0, "the trees of ranks"),
        router_(rows.router()) {}

  /// Makes `states` [vertices] of the first rank, in the executor's memory, the roots of all ranks' trees.
  /// All ranks call it. In each step every second rank that still has trees gives them to the one before it.
  template <Executor E, MergeProgram Program>
  void join(E& executor, const Program& program, Vertex* states) {
    for (std::size_t step = 1; step < ranks_; step *= 2) {
      const bool gives = rank_ % (2 * step) == step, takes = rank_ % (2 * step) == 0 && rank_ + step < ranks_;
      for (std::uint64_t begin = 0; begin < vertices_; begin += piece_) {
        const std::uint64_t count = std::min(piece_, vertices_ - begin);
        std::vector<std::uint64_t> send(ranks_), come(ranks_);
        if (gives) send[rank_ - step] = count;
        if (takes) come[rank_ + step] = count;
        const RoutedColumn column{states + begin, others_.data(), sizeof(Vertex)};
        router_.send({&column, 1}, send, come, executor.stream(), "the trees of ranks");
        if (takes) executor.for_each(count, {}, JoinTrees<Program>{program, states, others_.data(), begin});
      }
    }
    if (rank_ == 0) executor.for_each(vertices_, {}, Compress{states});
  }

 private:
  std::size_t ranks_, rank_;
  std::uint64_t vertices_, piece_;  ///< so many travel at once
  TravellingValues<Vertex> others_;
  const Router& router_;
};

}  // namespace sluice::acc

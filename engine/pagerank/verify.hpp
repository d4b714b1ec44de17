// An independent check of ranks, by another computation than the one that produced them.
#pragma once

#include <span>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::pagerank {

/// The result of one more iteration from given ranks.
struct RankCheck {
  double sum = 0;     ///< of the ranks
  double change = 0;  ///< of the iteration, in L1
};

/// Makes one more iteration from all ranks in double precision, by pushing along out-edges in memory or in
/// the graph's file. The order of the `threads` threads affects only the last digits. Takes 8 bytes of host
/// memory a vertex, and a piece of the edges if they are in a file; a plan only counts that memory. All ranks
/// of a job (`peers`; null: this process alone) call it with the same arguments, and each pushes from a range
/// of vertices. Throws RunError ("verify: ...") for a rank that is not between 0 and 2.
RankCheck check_ranks(const Graph& graph, const Options& options, std::span<const double> ranks,
                      Communicator* peers = nullptr, unsigned threads = 1);

/// Checks static ranks of all vertices. One more iteration may change them in L1 by at most the damping times
/// the last iteration's change (`last_l1`), plus rounding, and they must sum to 1. Throws RunError ("verify:
/// ...") otherwise. All of `peers` call it.
void verify_pagerank(const Graph& graph, const Options& options, std::span<const double> ranks,
                     double last_l1, Communicator* peers = nullptr, unsigned threads = 1);

/// The L1 change that one more iteration may make to ranks that followed a batch. `before` is the change that
/// one would have made to the earlier ranks, on the graph before the batch.
///
/// Let e be the change of an iteration in the vector y that dynamic methods solve for (dynamic.hpp), t the
/// frontier tolerance and k the iterations. A vertex that pulled in the last iteration but one counts with
/// what all sources give, but for the last iteration's changes: together d times these, in L1. A vertex that
/// was not updated since some iteration, or ever, holds contributions of sources that have since changed by
/// at most t relatively in each. (On residuals, a contribution that was sent is off by at most t, once in
/// all.) Together these make at most d k t (1 - t)^-k of all ranks. A vertex that never pulled keeps its
/// earlier error. With `--dangling uniform` ranks are y divided by its sum s. One more iteration changes them
/// by (e less its mean) / s, at most twice e / s; and s is at least 1 - d.
double allowed_change(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                      const DynamicRankResult& result, double before);

/// Checks ranks of all vertices that followed a batch. `before` is the change that check_ranks() found for
/// the earlier ranks, on the graph before the batch. Throws RunError ("verify: ...") if one more iteration
/// changes more than allowed_change(), or if the sum is off by more than that permits. Returns that change.
/// All of `peers` call it.
double verify_followed(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                       std::span<const double> ranks, const DynamicRankResult& result, double before,
                       Communicator* peers = nullptr, unsigned threads = 1);

}  // namespace sluice::pagerank

// Whether ranks are what PageRank says, asked in another way than they were found.
#pragma once

#include <span>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::pagerank {

/// What one more iteration makes of ranks.
struct RankCheck {
  double sum = 0;     ///< of the ranks
  double change = 0;  ///< that the iteration makes, in L1
};

/// Makes one more iteration of all ranks, by pushing along out-edges in double precision, wherever the graph
/// has them, by so many threads, whose order changes the last digits alone. Takes 8 bytes a vertex of host
/// memory (where that is counted alone, it does no more), and a piece of the edges where they are in a file.
/// Ranks of a job (`peers`; null: this one alone) all call it with the same, and push from a range of
/// vertices each. Throws RunError ("verify: ...") for a rank that is none.
RankCheck check_ranks(const Graph& graph, const Options& options, std::span<const double> ranks,
                      Communicator* peers = nullptr, unsigned threads = 1);

/// Static ranks of all vertices: one more iteration may change them, in L1, by no more than the damping times
/// what the last iteration changed (`last_l1`), and rounding; and they must sum to 1. All of `peers` call it.
/// Throws RunError ("verify: ...") otherwise.
void verify_pagerank(const Graph& graph, const Options& options, std::span<const double> ranks,
                     double last_l1, Communicator* peers = nullptr, unsigned threads = 1);

/// By how much one more iteration may change ranks that followed a batch (in L1), where it would have changed
/// the earlier ranks of the graph before it by `before`.
///
/// Let e be what an iteration would change in the vector y that dynamic methods solve for (dynamic.hpp), t
/// the frontier tolerance and k the iterations. A vertex that pulled in the last iteration but one counts
/// with what all sources give, but for the last iteration's changes: together d times these, in L1. One that
/// was left alone since some iteration, or from the beginning, counts with sources that have since changed by
/// at most t of themselves in each (once at all for residuals, where it is what they sent that may be off by
/// t): together at most d k t (1 - t)^-k of all ranks. One that never pulled keeps what it had before. With
/// `--dangling uniform` ranks are y by its sum s, and one more iteration changes them by e less its mean, by
/// s: at most twice e / s; and s is at least 1 - d.
double allowed_change(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                      const DynamicRankResult& result, double before);

/// Ranks of all vertices that followed a batch. `before` is what check_ranks() found of the earlier ranks, on
/// the graph before the batch. All of `peers` call it. Throws RunError ("verify: ...") where one more
/// iteration changes more than allowed_change(), or the sum is off by more than that allows. Returns what it
/// changes.
double verify_followed(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                       std::span<const double> ranks, const DynamicRankResult& result, double before,
                       Communicator* peers = nullptr, unsigned threads = 1);

}  // namespace sluice::pagerank

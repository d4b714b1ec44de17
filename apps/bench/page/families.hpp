// The content of docs/performance.md: one table per family, with the figures of its suite's reports in this
// order. docs/goals.md has the figures for which there is a goal.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace sluice::bench {

struct Family {
  std::string_view suite, title;
  std::span<const std::string_view> figures;
};

inline constexpr std::string_view kSamplingFigures[] = {"uniform walk, wide",
                                                        "biased by weight, alias, wide",
                                                        "node2vec 2, 0.5, weighted, exact",
                                                        "neighbor 15,10, replace, revisit, one seed a vertex",
                                                        "neighbor 15,10, distinct, visited rule, 2^20 seeds",
                                                        "the same by weight"};

inline constexpr std::string_view kOutOfCoreFigures[] = {
    "uniform walk, two walkers a vertex, auto",
    "uniform walk, ten walkers a vertex, auto",
    "biased by weight, alias, coded",
    "node2vec 2, 0.5, weighted, ten walkers a vertex, coded",
    "neighbor 15,10, distinct, 1048576 seeds, coded",
    "bfs, auto",
    "sssp, auto",
    "wcc, auto",
    "kcore, auto"};

inline constexpr std::string_view kPageRankFigures[] = {"one iteration, f64",
                                                        "one iteration, f64, a quarter on the device",
                                                        "cuSPARSE SpMV, f64, CSR, algorithm 1",
                                                        "kronecker, batch 1e-06, dfp",
                                                        "kronecker, batch 1e-04, static",
                                                        "kronecker, batch 1e-04, dfp"};

inline constexpr std::string_view kAccFigures[] = {"bfs, 16 sources", "sssp, 16 sources", "wcc", "kcore",
                                                   "bp, 2 states, rate"};

inline constexpr std::string_view kPprFigures[] = {
    "push, threshold 8e-06, in bulk", "push, threshold 8e-06, precision at 200",
    "meloppr, 3,3 at 10%, in bulk", "meloppr, 3,3 at 10%, precision at 200", "exact, 14 steps, in bulk"};

inline constexpr std::string_view kScalingFigures[] = {"replicate, strong",
                                                       "shard, strong",
                                                       "node2vec, shard, strong",
                                                       "neighbor 15,10, shard, strong",
                                                       "pagerank",
                                                       "bfs",
                                                       "sssp",
                                                       "wcc",
                                                       "kcore",
                                                       "bp, 2 states, 10 rounds",
                                                       "dfp, batch 1e-04",
                                                       "ppr, 65536 queries"};

inline constexpr std::string_view kFilesFigures[] = {"walk, 40 steps, h5", "sample, neighbor 10,5",
                                                     "pagerank to 1e-6", "pagerank to 1e-6, directed", "bfs"};

inline constexpr std::array kFamilies{
    Family{"sampling", "Walks and samples", kSamplingFigures},
    Family{"outofcore", "Out of core", kOutOfCoreFigures},
    Family{"pagerank", "PageRank", kPageRankFigures},
    Family{"acc", "Active-Compute-Combine", kAccFigures},
    Family{"ppr", "Personalized PageRank", kPprFigures},
    Family{"scaling", "Several ranks", kScalingFigures},
    Family{"files", "From file to file, against the disk's time for the same bytes", kFilesFigures}};

}  // namespace sluice::bench

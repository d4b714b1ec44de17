// Rounds over all vertices on the host's threads: each takes ranges that hold about equally many edges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/exec/thread_pool.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Goes through all vertices, again and again.
class VertexRounds {
 public:
  VertexRounds(const CsrView& lists, unsigned threads) : pool_(threads) {
    const std::uint64_t all = lists.edges + lists.vertices,
                        wanted = all / (pool_.size() * kRangesPerThread) + 1;
    boundaries_.push_back(0);
    for (std::uint64_t v = 0, cost = 0; v < lists.vertices; ++v) {
      cost += 1 + lists.offsets[v + 1] - lists.offsets[v];
      if (cost >= wanted) boundaries_.push_back(v + 1), cost = 0;
    }
    if (boundaries_.back() != lists.vertices) boundaries_.push_back(lists.vertices);
  }

  /// Calls body(v) for every vertex; returns the largest of what it returns, or -1 if that was ever negative.
  template <class Body>
  double round(Body&& body) {
    std::vector<double> largest(boundaries_.size() - 1, 0.0);
    pool_.blocks(largest.size(), 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
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

  ThreadPool pool_;
  std::vector<std::uint64_t> boundaries_;
};

}  // namespace sluice::acc

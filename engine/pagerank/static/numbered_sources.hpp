// In-lists that hold numbers of sources instead of vertices. Vertices with the most out-edges have the first
// numbers, so that the contributions gathered most often are adjacent and stay in a core's cache.
#pragma once

#include <cstdint>

#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/pagerank/rank_graph.hpp"

namespace sluice::pagerank {

class NumberedSources {
 public:
  /// For a whole graph whose in-edges are in memory. Throws BudgetError if memory cannot hold bytes_of().
  NumberedSources(const Device& device, const RankGraph& graph);

  static std::uint64_t bytes_of(const RankGraph& graph) {
    return (graph.vertices() + graph.in().edges) * sizeof(Vertex);
  }

  const Vertex* numbers() const { return numbers_.data(); }  ///< [vertices]
  const Vertex* sources() const { return sources_.data(); }  ///< [in().edges] the numbers of in().targets

 private:
  Buffer<Vertex> numbers_, sources_;
};

}  // namespace sluice::pagerank

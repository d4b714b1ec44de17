// Times of edges that are not in host memory: only a batch and a copy of the graph want them.
#pragma once

#include <cstdint>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

/// What an EdgeSource is beside that where its edges may have times. Safe to call from several threads.
class EdgeTimes {
 public:
  virtual ~EdgeTimes() = default;
  /// Whether edges have times.
  virtual bool timed() const = 0;
  /// Reads times of edges [first, first + out.size()); only where they have them.
  virtual void read_times(EdgeIndex first, std::span<std::int64_t> out) const = 0;
};

/// The times of edges that are elsewhere; null: there are none.
inline const EdgeTimes* times_of(const EdgeSource* edges) {
  const auto* const times = dynamic_cast<const EdgeTimes*>(edges);
  return times != nullptr && times->timed() ? times : nullptr;
}

/// Whether the graph's edges have times; of none it cannot be known.
inline bool is_timed(const Graph& graph) {
  return !graph.out.times.empty() || (graph.edges() > 0 && times_of(graph.edges_elsewhere.get()) != nullptr);
}

}  // namespace sluice

#include "apps/data/ids.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::apps {

IdMap::IdMap(const Graph& graph, bool original) : vertices_(graph.vertices()) {
  if (!original) return;
  original_ = graph.original_ids.span();
  // Compaction keeps the order of ids; only vertices added later can break it.
  if (std::is_sorted(original_.begin(), original_.end())) return;
  by_id_ = HostArray<Vertex>(original_.size(), "vertices by original id");
  std::iota(by_id_.begin(), by_id_.end(), Vertex{0});
  std::sort(by_id_.begin(), by_id_.end(), [&](Vertex a, Vertex b) { return original_[a] < original_[b]; });
}

std::optional<Vertex> IdMap::to_internal(std::int64_t id) const {
  if (!translates()) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= vertices_) return std::nullopt;
    return static_cast<Vertex>(id);
  }
  if (by_id_.empty()) {
    const auto found = std::lower_bound(original_.begin(), original_.end(), id);
    if (found == original_.end() || *found != id) return std::nullopt;
    return static_cast<Vertex>(found - original_.begin());
  }
  const auto found =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [&](Vertex vertex, std::int64_t wanted) { return original_[vertex] < wanted; });
  if (found == by_id_.end() || original_[*found] != id) return std::nullopt;
  return *found;
}

}  // namespace sluice::apps

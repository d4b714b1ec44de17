// Lists that are in one frontier several times (layer --revisit). A sample shows the source of an edge, but
// not the copy of its list. So each edge is assigned to the first copy that its position in the order admits,
// and the exact distribution is folded in the same way.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "statistical/oracle_bias.hpp"

namespace sluice::stat {

inline bool has_copies(std::span<const Vertex> sources) {
  return std::set<Vertex>(sources.begin(), sources.end()).size() < sources.size();
}

/// Ascending positions in the concatenated lists of `sources`, each moved to the first copy that may contain
/// it.
inline std::vector<std::size_t> in_first_copies(const CsrView& graph, std::span<const Vertex> sources,
                                                std::span<const std::size_t> positions) {
  std::vector<std::pair<Vertex, std::size_t>> edges;  // vertex and index in its list, as in a sample
  std::size_t begin = 0, next = 0;
  for (const Vertex v : sources) {
    const std::size_t end = begin + degree(graph, v);
    for (; next < positions.size() && positions[next] < end; ++next)
      edges.emplace_back(v, positions[next] - begin);
    begin = end;
  }
  std::vector<std::size_t> moved;
  begin = next = 0;
  for (const Vertex v : sources) {
    for (std::size_t above = 0; next < edges.size(); ++next) {
      const auto& [from, index] = edges[next];
      if (from != v || index < above) break;
      moved.push_back(begin + index);
      above = index + 1;
    }
    begin += degree(graph, v);
  }
  return moved;
}

/// A distribution over masks of positions, folded.
inline std::vector<double> in_first_copies(const CsrView& graph, std::span<const Vertex> sources,
                                           const std::vector<double>& sets) {
  std::vector<double> folded(sets.size(), 0.0);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    if (sets[set] <= 0) continue;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; set >> i; ++i)
      if (set >> i & 1) positions.push_back(i);
    std::size_t mask = 0;
    for (const std::size_t position : in_first_copies(graph, sources, positions))
      mask |= std::size_t{1} << position;
    folded[mask] += sets[set];
  }
  return folded;
}

/// Inclusion probabilities of a single draw, folded: a single edge is always assigned to the first copy.
inline std::vector<double> single_in_first_copies(const CsrView& graph, std::span<const Vertex> sources,
                                                  const std::vector<double>& inclusion) {
  std::vector<double> folded(inclusion.size(), 0.0);
  for (std::size_t i = 0; i < inclusion.size(); ++i) {
    folded[in_first_copies(graph, sources, std::vector{i}).front()] += inclusion[i];
  }
  return folded;
}

}  // namespace sluice::stat

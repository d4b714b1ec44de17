#include "engine/acc/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/core/error.hpp"

namespace sluice {

namespace {

template <class... Args>
void require(bool right, fmt::format_string<Args...> what, Args&&... args) {
  if (!right) throw RunError("verify: " + fmt::format(what, std::forward<Args>(args)...));
}

/// Calls use(u, v, position) for every stored edge.
template <class Use>
void for_each_edge(const Csr& csr, Use&& use) {
  for (std::uint64_t u = 0; u < csr.vertices(); ++u) {
    for (EdgeIndex e = csr.offsets[u]; e < csr.offsets[u + 1]; ++e)
      use(static_cast<Vertex>(u), csr.targets[e], e);
  }
}

bool has_edge(const Csr& csr, Vertex u, Vertex v) {
  return std::binary_search(csr.targets.begin() + csr.offsets[u], csr.targets.begin() + csr.offsets[u + 1],
                            v);
}

}  // namespace

void verify_bfs(const Graph& graph, Vertex source, std::span<const std::int32_t> depths,
                std::span<const Vertex> parents) {
  require(depths[source] == 0 && parents[source] == source,
          "the source, {}, is not its own parent at depth 0", source);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const bool reached = depths[v] >= 0;
    require(reached == (parents[v] != kNoVertex), "vertex {} has a depth or a parent, but not both", v);
    if (!reached || v == source) continue;
    require(parents[v] < graph.vertices() && depths[parents[v]] == depths[v] - 1,
            "vertex {} is not one deeper than its parent, {}", v, parents[v]);
    require(has_edge(graph.out, parents[v], static_cast<Vertex>(v)),
            "no edge leads from {} to {}, whose parent it is", parents[v], v);
  }
  for_each_edge(graph.out, [&](Vertex u, Vertex v, EdgeIndex) {
    if (depths[u] < 0) return;
    require(depths[v] >= 0 && depths[v] <= depths[u] + 1, "the edge from {} to {} spans more than one depth",
            u, v);
    require(depths[v] != depths[u] + 1 || parents[v] <= u,
            "vertex {} could have {} as parent, which is smaller", v, u);
  });
}

void verify_sssp(const Graph& graph, Vertex source, std::span<const double> distances) {
  const auto weight = [&](EdgeIndex e) {
    return graph.out.weights.empty() ? 1.0 : static_cast<double>(graph.out.weights[e]);
  };
  require(distances[source] == 0, "the source, {}, is not at distance 0", source);
  for_each_edge(graph.out, [&](Vertex u, Vertex v, EdgeIndex e) {
    require(!(distances[u] + weight(e) < distances[v]), "the edge from {} to {} is a shorter way", u, v);
  });
  // Tight edges alone would also hold up a cycle of weight zero that nothing leads to: so they are followed.
  std::vector<bool> seen(graph.vertices());
  std::vector<Vertex> stack{source};
  seen[source] = true;
  while (!stack.empty()) {
    const Vertex u = stack.back();
    stack.pop_back();
    for (EdgeIndex e = graph.out.offsets[u]; e < graph.out.offsets[u + 1]; ++e) {
      const Vertex v = graph.out.targets[e];
      if (seen[v] || distances[u] + weight(e) != distances[v]) continue;
      seen[v] = true;
      stack.push_back(v);
    }
  }
  for (std::uint64_t v = 0; v < graph.vertices(); ++v)
    require(seen[v] == (distances[v] < std::numeric_limits<double>::infinity()),
            "no path has the length that vertex {} is said to be away, {}", v, distances[v]);
}

void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores) {
  // Batagelj and Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003: vertices in order
  // of degree; each in turn takes one from its later neighbours, which move to the front of their degree's
  // range.
  const Csr lists = simple_undirected(graph, 1);
  const std::uint64_t n = lists.vertices();
  std::vector<std::uint32_t> degree(n);
  std::uint32_t most = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    degree[v] = static_cast<std::uint32_t>(lists.offsets[v + 1] - lists.offsets[v]);
    most = std::max(most, degree[v]);
  }
  std::vector<std::uint64_t> begin(std::uint64_t{most} + 2), place(n);
  for (const std::uint32_t d : degree) ++begin[d + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Vertex> order(n);
  auto free = begin;
  for (std::uint64_t v = 0; v < n; ++v) order[place[v] = free[degree[v]]++] = static_cast<Vertex>(v);
  for (std::uint64_t i = 0; i < n; ++i) {
    const Vertex v = order[i];
    const bool right = k == 0 ? cores[v] == degree[v] : (cores[v] >= k) == (degree[v] >= k);
    require(right, "vertex {} has core number {}, not {}", v, degree[v], cores[v]);
    for (EdgeIndex e = lists.offsets[v]; e < lists.offsets[v + 1]; ++e) {
      const Vertex u = lists.targets[e];
      if (degree[u] <= degree[v]) continue;
      const Vertex first = order[begin[degree[u]]];
      std::swap(order[place[u]], order[begin[degree[u]]]);
      std::swap(place[u], place[first]);
      ++begin[degree[u]--];
    }
  }
}

void verify_components(const Graph& graph, std::span<const Vertex> components) {
  std::vector<Vertex> parent(graph.vertices());
  std::iota(parent.begin(), parent.end(), Vertex{0});
  const auto root = [&](Vertex v) {
    for (; parent[v] != v; v = parent[v]) parent[v] = parent[parent[v]];
    return v;
  };
  for_each_edge(graph.out, [&](Vertex u, Vertex v, EdgeIndex) {
    const auto [low, high] = std::minmax({root(u), root(v)});
    parent[high] = low;
  });
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const Vertex smallest = root(static_cast<Vertex>(v));
    require(components[v] == smallest, "vertex {} is in the component of {}, not {}", v, smallest,
            components[v]);
  }
}

}  // namespace sluice

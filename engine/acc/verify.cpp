#include "engine/acc/verify.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/verify_edges.hpp"
#include "partition/list_reader.hpp"

namespace sluice::acc {

namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
/// Elements that ranks exchange at a time.
constexpr std::uint64_t kExchangeChunk = 1u << 16;

/// One bit for each vertex; several threads may set bits at once.
class Flags {
 public:
  explicit Flags(std::uint64_t vertices) : words_(words_of(0, vertices), "checked vertices") {
    if (!host_budget().counts_only()) std::fill(words_.begin(), words_.end(), 0);
  }

  bool operator[](std::uint64_t v) const { return has_bit(words_.data(), static_cast<Vertex>(v)); }
  void set(std::uint64_t v) { set_bit(words_.data(), static_cast<Vertex>(v)); }

  /// Sets every bit that is set on any rank. All ranks call it.
  void gather(Communicator* ranks) {
    if (ranks == nullptr || ranks->size() == 1) return;
    const std::uint64_t bits = kBitsOfWord * words_.size();
    HostArray<std::uint64_t> chunk(std::min(kExchangeChunk, bits), "checked vertices");
    for (std::uint64_t first = 0; first < bits; first += chunk.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(chunk.size(), bits - first);
      for (std::uint64_t i = 0; i < count; ++i) chunk[i] = (*this)[first + i] ? 1 : 0;
      ranks->all_reduce(chunk.span().first(count), Reduce::max, "checked vertices");
      for (std::uint64_t i = 0; i < count; ++i) {
        if (chunk[i] != 0) set(first + i);
      }
    }
  }

 private:
  HostArray<std::uint32_t> words_;
};

/// Finds vertices reached by a path of their claimed length. An edge from a nearer vertex proves its target:
/// the nearer vertex is checked likewise, down to the source. Edges that add nothing to the distance then
/// extend the proof from proven vertices to their targets.
class ProvenVertices {
 public:
  ProvenVertices(const Graph& graph, std::span<const double> distances)
      : graph_(graph), distances_(distances) {}

  void add_edge(Vertex u, Vertex v, double weight) {
    if (distances_[u] == kUnreached || distances_[u] + weight != distances_[v]) return;
    if (distances_[u] < distances_[v]) {
      proven_.set(v);
    } else {
      has_zero_edge_.set(u);
    }
  }

  /// Follows zero-length edges, once add_edge() has seen all edges. All ranks call it.
  void propagate(Vertex source, Communicator* ranks) {
    proven_.set(source);
    proven_.gather(ranks);
    has_zero_edge_.gather(ranks);
    for (std::uint64_t v = 0; v < graph_.vertices(); ++v) {
      if (proven_[v] && has_zero_edge_[v]) queue_[last_++] = static_cast<Vertex>(v);
    }
    const ListReader reader = out_lists(graph_, graph_.weighted, 1);
    for (std::uint64_t first = 0, last; first < (last = last_); first = last) {
      const auto frontier = queue_.span().subspan(first, last - first);
      std::sort(frontier.begin(), frontier.end());
      reader.for_each(frontier, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) extend_from(lists, frontier[i]);
      });
    }
  }

  bool operator[](std::uint64_t v) const { return proven_[v]; }

 private:
  void extend_from(const CsrView& lists, Vertex u) {
    for (EdgeIndex e = lists.offsets[u]; e < lists.offsets[u + 1ull]; ++e) {
      const Vertex v = lists.targets[e];
      const double weight = graph_.weighted ? static_cast<double>(lists.weights[e]) : 1.0;
      if (proven_[v] || distances_[u] + weight != distances_[v]) continue;
      proven_.set(v);
      if (has_zero_edge_[v]) queue_[last_++] = v;
    }
  }

  const Graph& graph_;
  std::span<const double> distances_;
  Flags proven_{graph_.vertices()}, has_zero_edge_{graph_.vertices()};
  HostArray<Vertex> queue_{graph_.vertices(), "checked paths"};  ///< in order of rounds, each once
  std::uint64_t last_ = 0;
};

/// A plain union-find, in which the root of a set is its smallest vertex. Several threads may unite sets at
/// once: a parent only ever decreases, and compare-and-swap attaches a root only while it is still one.
class UnionFind {
 public:
  explicit UnionFind(std::uint64_t vertices) : parent_(vertices, "checked components") {
    if (!host_budget().counts_only()) std::iota(parent_.begin(), parent_.end(), Vertex{0});
  }

  Vertex root(Vertex v) {
    for (;;) {
      const std::atomic_ref parent(parent_[v]);
      Vertex parent_vertex = parent.load(std::memory_order_relaxed);
      if (parent_vertex == v) return v;
      const Vertex next = std::atomic_ref(parent_[parent_vertex]).load(std::memory_order_relaxed);
      // May fail, as another thread may have shortened the path further.
      if (next != parent_vertex) parent.compare_exchange_weak(parent_vertex, next, std::memory_order_relaxed);
      v = next;
    }
  }
  void unite(Vertex u, Vertex v) {
    for (;;) {
      const auto [low, high] = std::minmax({root(u), root(v)});
      if (low == high) return;
      Vertex expected = high;
      if (std::atomic_ref(parent_[high]).compare_exchange_strong(expected, low, std::memory_order_relaxed))
        return;
    }
  }
  /// Unites with the sets of all other ranks. All ranks call it.
  void unite_all(Communicator* ranks) {
    if (ranks == nullptr || ranks->size() == 1) return;
    HostArray<Vertex> received(std::min<std::uint64_t>(kExchangeChunk, parent_.size()), "checked components");
    for (int root = 0; root < ranks->size(); ++root) {
      for (std::uint64_t first = 0; first < parent_.size(); first += received.size()) {
        const auto chunk =
            received.span().first(std::min<std::uint64_t>(received.size(), parent_.size() - first));
        std::copy_n(parent_.begin() + first, chunk.size(), chunk.begin());
        ranks->broadcast(std::as_writable_bytes(chunk), root, "checked components");
        for (std::uint64_t i = 0; i < chunk.size(); ++i) unite(static_cast<Vertex>(first + i), chunk[i]);
      }
    }
  }

 private:
  HostArray<Vertex> parent_;
};

}  // namespace

void verify_bfs(const Graph& graph, Vertex source, std::span<const std::int32_t> depths,
                std::span<const Vertex> parents, Communicator* ranks, unsigned threads) {
  Flags has_parent_edge(graph.vertices());
  if (host_budget().counts_only()) return;
  require(depths[source] == 0 && parents[source] == source,
          "the source, {}, is not its own parent at depth 0", source);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const bool reached = depths[v] >= 0;
    require(reached == (parents[v] != kNoVertex), "vertex {} has a depth or a parent, but not both", v);
    if (!reached || v == source) continue;
    require(parents[v] < graph.vertices() && depths[parents[v]] == depths[v] - 1,
            "vertex {} is not one deeper than its parent, {}", v, parents[v]);
  }
  const OwnedRows own(graph.out.offsets.span(), ranks);
  for_each_edge(graph, own, false, threads, [&](Vertex u, Vertex v, double) {
    if (depths[u] < 0) return;
    require(depths[v] >= 0 && depths[v] <= depths[u] + 1, "the edge from {} to {} spans more than one depth",
            u, v);
    require(depths[v] != depths[u] + 1 || parents[v] <= u,
            "vertex {} could have {} as parent, which is smaller", v, u);
    if (parents[v] == u) has_parent_edge.set(v);
  });
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    if (v == source || depths[v] < 0 || !own.contains(parents[v])) continue;
    require(has_parent_edge[v], "no edge leads from {} to {}, whose parent it is", parents[v], v);
  }
  wait_for_checks(ranks);
}

void verify_sssp(const Graph& graph, Vertex source, std::span<const double> distances, Communicator* ranks,
                 unsigned threads) {
  ProvenVertices proven(graph, distances);
  if (host_budget().counts_only()) return;
  require(distances[source] == 0, "the source, {}, is not at distance 0", source);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v)
    require(distances[v] >= 0, "vertex {} has distance {}", v, distances[v]);
  const OwnedRows own(graph.out.offsets.span(), ranks);
  for_each_edge(graph, own, true, threads, [&](Vertex u, Vertex v, double weight) {
    require(!(distances[u] + weight < distances[v]), "the edge from {} to {} gives a shorter path", u, v);
    proven.add_edge(u, v, weight);
  });
  proven.propagate(source, ranks);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v)
    require(proven[v] == (distances[v] < kUnreached),
            "no path to vertex {} has the length of its distance, {}", v, distances[v]);
  wait_for_checks(ranks);
}

void verify_components(const Graph& graph, std::span<const Vertex> components, Communicator* ranks,
                       unsigned threads) {
  UnionFind sets(graph.vertices());
  if (host_budget().counts_only()) return;
  for_each_edge(graph, OwnedRows(graph.out.offsets.span(), ranks), false, threads,
                [&](Vertex u, Vertex v, double) { sets.unite(u, v); });
  sets.unite_all(ranks);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    const Vertex smallest = sets.root(static_cast<Vertex>(v));
    require(components[v] == smallest, "vertex {} is in the component of {}, not {}", v, smallest,
            components[v]);
  }
  wait_for_checks(ranks);
}

}  // namespace sluice::acc

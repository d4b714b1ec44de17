// A hash table of a graph's edges: one read says whether there is an edge, where a search of a list makes
// several dependent ones. It is exact: a key is an edge's two vertices, mixed by an invertible function; its
// bucket and the tag that is stored there together determine the key.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice {

/// Whether there is an edge.
enum class Answer { no, yes, unknown /**< no list here tells */ };

/// A view of the set for kernels; trivially copyable. Each edge of an undirected graph is stored once.
struct EdgeSet {
  static constexpr unsigned kTags = 8;
  /// One sector of a GPU's memory.
  struct alignas(32) Bucket {
    std::uint32_t tags[kTags];
  };
  static constexpr unsigned kTagBits = 31;
  // Not tags. kOverflowed, in the last place, marks a bucket with more edges than tags: lists decide then.
  static constexpr std::uint32_t kFree = ~0u, kOverflowed = ~0u - 1;

  const Bucket* buckets = nullptr;
  std::uint64_t size = 0;         ///< number of buckets; 0: no set
  std::uint32_t vertex_bits = 1;  ///< bits per vertex in a key
  bool undirected = false;
  Vertex begin = 0, end = 0;  ///< vertices whose lists are in it

  /// The set for the lists of vertices [begin, end) of a graph in host memory; it has no memory yet. Half of
  /// the tags stay free: at that load, one bucket in fifty overflows.
  static EdgeSet of(const GraphView& graph, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kEdgesOfBucket = kTags / 2;
    const std::uint64_t edges = graph.csr.offsets[end] - graph.csr.offsets[begin];
    const double share = static_cast<double>(edges) / static_cast<double>(graph.edges() | 1);
    // Both lists have an undirected edge between two of these vertices.
    const double keys = static_cast<double>(edges) * (graph.undirected ? 1 - share / 2 : 1);
    const unsigned bits = bit_width(graph.vertices() | 1);
    // With fewer buckets, two keys of a bucket could have the same tag.
    const unsigned exact = 2 * bits > kTagBits ? 2 * bits - kTagBits : 0;
    return {
        .size = std::max(static_cast<std::uint64_t>(keys) / kEdgesOfBucket + 1, std::uint64_t{1} << exact),
        .vertex_bits = bits,
        .undirected = graph.undirected,
        .begin = static_cast<Vertex>(begin),
        .end = static_cast<Vertex>(end)};
  }
  std::uint64_t bytes() const { return size * sizeof(Bucket); }

  SLUICE_HD bool has_list(Vertex v) const { return v >= begin && v < end; }

  /// The bucket and the tag of an edge.
  struct Location {
    std::uint64_t bucket;
    std::uint32_t tag;
  };
  SLUICE_HD Location locate(Vertex u, Vertex v) const {
    const bool swap = undirected && v < u;
    const std::uint64_t from = swap ? v : u, to = swap ? u : v;
    // Products by odd numbers and xor-shifts, all modulo 2^(2 vertex_bits), are invertible.
    constexpr std::uint64_t kMultiplier1 = 0x9e3779b97f4a7c15, kMultiplier2 = 0xd1342543de82ef95;
    const unsigned unused = 64 - 2 * vertex_bits;
    std::uint64_t key = (from << vertex_bits | to) * kMultiplier1 << unused >> unused;
    key ^= key >> vertex_bits;
    const auto spread = static_cast<unsigned __int128>(key * kMultiplier2 << unused) * size;
    const std::uint64_t fraction = static_cast<std::uint64_t>(spread);
    return {static_cast<std::uint64_t>(spread >> 64),
            static_cast<std::uint32_t>(fraction >> (64 - kTagBits))};
  }

  /// The bucket that has_edge() reads.
  const Bucket* bucket(Vertex u, Vertex v) const { return buckets + locate(u, v).bucket; }

  /// Returns `unknown` if no list that could have the edge is in the set, or if its bucket has overflowed.
  SLUICE_HD Answer has_edge(Vertex u, Vertex v) const {
    if (!has_list(u) && !(undirected && has_list(v))) return Answer::unknown;
    const Location location = locate(u, v);
    const Bucket bucket = read_bucket(location.bucket);
    bool found = false;
    for (const std::uint32_t tag : bucket.tags) found |= tag == location.tag;
    if (found) return Answer::yes;
    return bucket.tags[kTags - 1] == kOverflowed ? Answer::unknown : Answer::no;
  }

 private:
  SLUICE_HD Bucket read_bucket(std::uint64_t i) const {
#if defined(__CUDA_ARCH__)
    const uint4* const words = reinterpret_cast<const uint4*>(buckets + i);
    const uint4 low = __ldg(words), high = __ldg(words + 1);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
#else
    return buckets[i];
#endif
  }
};

}  // namespace sluice

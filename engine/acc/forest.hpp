// Trees of vertices that many threads join concurrently, on both backends (Afforest: Sutton, Ben-Nun, Barak,
// IPDPS'18).
#pragma once

#include <algorithm>
#include <vector>

#include "engine/acc/program.hpp"

namespace sluice::acc {

/// Number of edges of each vertex that are joined before the largest tree is determined. Two suffice for
/// nearly all of a graph's largest component to be one tree.
inline constexpr unsigned kSampledEdges = 2;
/// Fewer edges are joined if the largest tree already holds this share of the vertices.
inline constexpr double kDominantShare = 0.9;
/// The second edges of the first 32 in every 64 * 32 vertices are joined before all others. Otherwise all of
/// a GPU's threads would join the same few trees; now most of the other vertices find nothing to do. (One
/// launch for all took an H100 4.6 ms for 8.9 M vertices of a Kronecker graph: threads waited for the same
/// words.)
inline constexpr std::uint64_t kEarlyStride = 64;
SLUICE_HD bool is_joined_early(std::uint64_t i) {
  return i / 32 % kEarlyStride == 0;
}
/// The i-th vertex joined first, and the most that there may be among `vertices`.
SLUICE_HD std::uint64_t early_row(std::uint64_t i) {
  return i / 32 * 32 * kEarlyStride + i % 32;
}
SLUICE_HD std::uint64_t count_early_rows(std::uint64_t vertices) {
  return (vertices + 32 * kEarlyStride - 1) / (32 * kEarlyStride) * 32;
}
/// Before trees are compressed, an edge whose roots are more steps away than this waits until they are: a
/// single lane takes a microsecond a step. (The last edge of a directed ring of 2^20 vertices took 0.3 s.)
inline constexpr std::uint64_t kMaxRootSteps = 256;
/// Vertices whose roots are sampled to find the largest tree.
inline constexpr unsigned kSampledRoots = 1024;

/// Joins the trees of u and v. Returns false, without joining them, if their roots are more than `max_steps`
/// away. The first reads may return an earlier, still valid ancestor: hubs are then read from a GPU's L1.
template <MergeProgram P>
SLUICE_HD bool join(const P& program, Vertex* states, Vertex u, Vertex v,
                    std::uint64_t max_steps = ~std::uint64_t{0}) {
  Vertex a = load_cached(states + u), b = load_cached(states + v);
  for (; a != b; --max_steps) {
    const Vertex kept = program.combine(a, b), attached = kept == a ? b : a;
    Vertex parent = load(states + attached);
    if (parent == kept) return true;
    if (parent == attached && exchange(states + attached, parent, kept)) return true;
    if (max_steps == 0) return false;
    a = load(states + load(states + attached));
    b = load(states + kept);
  }
  return true;
}

/// Sets v's state to the root of its tree; no trees may be joined meanwhile. Most roots are near, and the L1
/// holds what many threads read. On a long path, uncached loads see vertices already compressed.
SLUICE_HD void compress(Vertex* states, Vertex v) {
  constexpr unsigned kNear = 4;
  const Vertex before = load_cached(states + v);
  Vertex root = before;
  for (unsigned steps = 0;; ++steps) {
    const Vertex parent = steps < kNear ? load_cached(states + root) : load(states + root);
    if (parent == root) break;
    root = parent;
  }
  if (root != before) store(states + v, root);
}

/// A tree, and the share of the sampled vertices that it holds.
struct LargestTree {
  Vertex root = kNoVertex;
  double share = 0;
};

/// Returns the tree that occurs most often in `roots`; among equals, that of the smallest root.
inline LargestTree largest_tree(std::vector<std::uint64_t> roots) {
  LargestTree largest;
  std::sort(roots.begin(), roots.end());
  for (std::size_t i = 0, max_count = 0, next; i < roots.size(); i = next) {
    for (next = i; next < roots.size() && roots[next] == roots[i];) ++next;
    if (next - i <= max_count) continue;
    max_count = next - i;
    largest = {static_cast<Vertex>(roots[i]),
               static_cast<double>(max_count) / static_cast<double>(roots.size())};
  }
  return largest;
}

}  // namespace sluice::acc

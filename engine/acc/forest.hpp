// Trees of vertices that many threads join at once (Afforest: Sutton, Ben-Nun, Barak, IPDPS'18): the same
// source on both backends.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/acc/program.hpp"

namespace sluice::acc {

/// So many edges of every vertex are joined before it is known which tree holds most vertices: enough for
/// nearly all of a graph's largest component to be one tree.
inline constexpr unsigned kSampledEdges = 2;
/// Or fewer edges, where the largest tree holds such a part of the vertices by then.
inline constexpr double kNearlyAll = 0.9;
/// The second ones of few vertices are joined first, where all of a GPU's threads would join the same few
/// trees: of the first 32 in every 64 * 32. Then most of the others see that there is nothing to do. (One
/// launch for all took an H100 4.6 ms for 8.9 M vertices of a Kronecker graph: threads waited for the same
/// words.)
inline constexpr std::uint64_t kFirstJoined = 64;
SLUICE_HD bool joins_first(std::uint64_t i) {
  return i / 32 % kFirstJoined == 0;
}
/// Vertex i of those, and how many there may be of so many vertices.
SLUICE_HD std::uint64_t first_joined(std::uint64_t i) {
  return i / 32 * 32 * kFirstJoined + i % 32;
}
SLUICE_HD std::uint64_t count_first_joined(std::uint64_t vertices) {
  return (vertices + 32 * kFirstJoined - 1) / (32 * kFirstJoined) * 32;
}
/// Edges that are joined while trees are not compressed yet wait until they are, if roots are further away:
/// alone, a lane takes a microsecond a step. (The last edge of a directed ring of 2^20 vertices took 0.3 s.)
inline constexpr std::uint64_t kNearRoot = 256;
/// Vertices that are asked for their root, to find the largest tree.
inline constexpr unsigned kSampledRoots = 1024;

/// Joins the trees of u and v; false: their roots are more than `most_steps` away, and it did not. Where they
/// begin may be what those hung from earlier, which is still above them: hubs are read from a GPU's L1 then.
template <MergeProgram P>
SLUICE_HD bool join(const P& program, Vertex* states, Vertex u, Vertex v,
                    std::uint64_t most_steps = ~std::uint64_t{0}) {
  Vertex a = load_cached(states + u), b = load_cached(states + v);
  for (; a != b; --most_steps) {
    const Vertex stays = program.combine(a, b), goes = stays == a ? b : a;
    Vertex above = load(states + goes);
    if (above == stays) return true;
    if (above == goes && exchange(states + goes, above, stays)) return true;
    if (most_steps == 0) return false;
    a = load(states + load(states + goes));
    b = load(states + stays);
  }
  return true;
}

/// Makes the root of v's tree its state, while no trees are joined. Most are near: what all ask for comes
/// from the L1 then. On a long path what those above have found meanwhile takes v further.
SLUICE_HD void compress(Vertex* states, Vertex v) {
  constexpr unsigned kNear = 4;
  const Vertex now = load_cached(states + v);
  Vertex root = now;
  for (unsigned steps = 0;; ++steps) {
    const Vertex above = steps < kNear ? load_cached(states + root) : load(states + root);
    if (above == root) break;
    root = above;
  }
  if (root != now) store(states + v, root);
}

/// A tree, and the part of some vertices that are in it.
struct LargestTree {
  Vertex root = kNoVertex;
  double share = 0;
};

/// That of most of the vertices with these roots; of several the one of the smallest root.
inline LargestTree largest_tree(std::vector<std::uint64_t> roots) {
  LargestTree largest;
  std::sort(roots.begin(), roots.end());
  for (std::size_t i = 0, most = 0, next; i < roots.size(); i = next) {
    for (next = i; next < roots.size() && roots[next] == roots[i];) ++next;
    if (next - i <= most) continue;
    most = next - i;
    largest = {static_cast<Vertex>(roots[i]), static_cast<double>(most) / static_cast<double>(roots.size())};
  }
  return largest;
}

}  // namespace sluice::acc

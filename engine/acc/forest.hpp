// Trees of vertices that many threads join at once (Afforest: Sutton, Ben-Nun, Barak, IPDPS'18): the same
// source on both backends.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/program.hpp"

namespace sluice::acc {

/// So many edges of every vertex are joined before it is known which tree holds most vertices: enough for
/// nearly all of a graph's largest component to be one tree.
inline constexpr unsigned kSampledEdges = 2;
/// Vertices that are asked for their root, to find the largest tree.
inline constexpr unsigned kSampledRoots = 1024;

/// Joins the trees of u and v.
template <MergeProgram P>
SLUICE_HD void join(const P& program, Vertex* states, Vertex u, Vertex v) {
  Vertex a = load(states + u), b = load(states + v);
  while (a != b) {
    const Vertex stays = program.combine(a, b), goes = stays == a ? b : a;
    Vertex above = load(states + goes);
    if (above == stays) return;
    if (above == goes && exchange(states + goes, above, stays)) return;
    a = load(states + load(states + goes));
    b = load(states + stays);
  }
}

/// Makes the root of v's tree its state.
SLUICE_HD void compress(Vertex* states, Vertex v) {
  Vertex root = load(states + v);
  for (Vertex above; (above = load(states + root)) != root;) root = above;
  store(states + v, root);
}

/// Of several the smallest.
inline Vertex most_frequent(std::vector<Vertex> roots) {
  std::sort(roots.begin(), roots.end());
  Vertex best = roots.front();
  for (std::size_t i = 0, most = 0, next; i < roots.size(); i = next) {
    for (next = i; next < roots.size() && roots[next] == roots[i];) ++next;
    if (next - i > most) most = next - i, best = roots[i];
  }
  return best;
}

/// The root that most of some vertices have, spread over all.
inline Vertex frequent_root(std::span<const Vertex> states) {
  std::vector<Vertex> roots;
  const std::size_t stride = states.size() / kSampledRoots + 1;
  for (std::size_t v = 0; v < states.size(); v += stride) roots.push_back(states[v]);
  return most_frequent(std::move(roots));
}

}  // namespace sluice::acc

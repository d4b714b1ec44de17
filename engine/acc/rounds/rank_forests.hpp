// Merges over ranks: the trees of two ranks become one's, until one has them all. No router sends them: what
// a rank receives is no vertex of its own, and half of the ranks are done after each step.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "engine/acc/forest.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

inline constexpr std::uint64_t kTreeVerticesAtOnce = 1u << 12;

/// The vertex of most edges, or the first of several: the same on all ranks, and most often in the largest
/// tree. All ranks call it.
inline Vertex hub_of(const RankPart& rows, std::uint64_t vertices) {
  std::uint64_t most[] = {0}, where[] = {rows.last()};
  for (std::uint64_t v = rows.first(); v < rows.last(); ++v) {
    const std::uint64_t degree = rows.degree(static_cast<Vertex>(v));
    if (v == rows.first() || degree > most[0]) most[0] = degree, where[0] = v;
  }
  const std::uint64_t own_most = most[0];
  rows.ranks().all_reduce(most, Reduce::max, "the vertex of most edges");
  if (own_most != most[0] || rows.first() == rows.last()) where[0] = vertices;
  rows.ranks().all_reduce(where, Reduce::min, "the vertex of most edges");
  return static_cast<Vertex>(where[0]);
}

/// Every vertex that is no root, and its root.
inline ChargedVector<Vertex> joined_vertices(std::span<const Vertex> states) {
  std::uint64_t joined = 0;
  for (std::uint64_t v = 0; v < states.size(); ++v) joined += states[v] != v;
  ChargedVector<Vertex> pairs;
  pairs.reserve(2 * joined);  // many: their memory is not to be taken twice
  for (std::uint64_t i = 0; i < states.size(); ++i) {
    const auto v = static_cast<Vertex>(i);
    Vertex root = states[v];
    for (Vertex above; (above = states[root]) != root;) root = above;
    if (root != v) pairs.insert(pairs.end(), {v, root});
  }
  return pairs;
}

/// Makes `states` [vertices], each rank's trees in host memory, the trees of all. All ranks call it. In each
/// step every second rank that still has trees gives them to the one before it.
template <MergeProgram Program>
void join_ranks(const RankPart& rows, const Program& program, ThreadPool& pool, std::span<Vertex> states) {
  Communicator& ranks = rows.ranks();
  const auto rank = static_cast<std::size_t>(ranks.rank()), size = static_cast<std::size_t>(ranks.size());
  Inbox received;
  for (std::size_t step = 1; step < size; step *= 2) {
    const ChargedVector<Vertex> given =
        rank % (2 * step) == step ? joined_vertices(states) : ChargedVector<Vertex>{};
    std::vector<std::span<const std::byte>> send(size);
    if (!given.empty()) send[rank - step] = std::as_bytes(std::span(given));
    ranks.all_to_all(send, received, "the trees of ranks");
    const auto pairs = received.bytes();
    pool.blocks(pairs.size() / (2 * sizeof(Vertex)), kTreeVerticesAtOnce,
                [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                  for (std::uint64_t i = begin; i < end; ++i) {
                    Vertex ends[2];
                    std::memcpy(ends, pairs.data() + i * sizeof ends, sizeof ends);
                    join(program, states.data(), ends[0], ends[1]);
                  }
                });
  }
  if (rank == 0) {
    pool.blocks(states.size(), kTreeVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) compress(states.data(), static_cast<Vertex>(v));
    });
  }
  ranks.broadcast(std::as_writable_bytes(states), 0, "the results");
}

}  // namespace sluice::acc

// Walks of a pool of vertices (frontier size 1 of a pool of M; C-SAW table I), by one group an instance.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/drive/starts_view.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/select/graph_view.hpp"

namespace sluice {

/// A sampler here has `vertex_bias(graph, v)`, by which a pool entry is picked; its neighbour is uniform. A
/// vertex without neighbours must have vertex bias 0.
template <class Sampler>
struct PoolProgram {
  GraphView graph;
  Sampler sampler;
  StartsView starts;
  std::uint64_t seed = 1;
  std::uint32_t length = 0;
  std::uint32_t pool_size = 1;  ///< room in the pool; lines with fewer seeds are filled up with kNoVertex

  /// Runs one instance: seeds[pool_size], pool[pool_size] and biases[pool_size] are its scratch and result,
  /// edges[length * 2] its path. Returns the steps taken.
  template <class Group>
  SLUICE_HD std::uint32_t run(const Group& group, Instance instance, Vertex* seeds, Vertex* pool,
                              std::uint64_t* biases, Vertex* edges) const {
    std::uint64_t mine = 0;
    const std::uint64_t count = starts.count(instance);
    for (std::uint32_t i = group.rank(); i < pool_size; i += Group::kSize) {
      const Vertex v = i < count ? starts.seed_vertex(instance, i) : kNoVertex;
      seeds[i] = pool[i] = v;
      biases[i] = v == kNoVertex ? 0 : sampler.vertex_bias(graph, v);
      mine += biases[i];
    }
    std::uint64_t total = group.sum(mine);
    group.sync();  // any lane may read the pool now
    std::uint32_t step = 0;
    for (; step < length && total > 0; ++step) {
      const PhiloxBlock block = WalkDraws{seed, step, instance}.block(Stream::select);
      const std::uint32_t entry = find(group, biases, uniform_index(block.low(), total));
      const Vertex from = pool[entry];
      const Row row = graph.row(from);
      const Vertex to = graph.target(row.offset + uniform_index(block.high(), row.degree));
      const std::uint64_t bias = sampler.vertex_bias(graph, to);
      total = total - biases[entry] + bias;
      group.sync();
      if (group.rank() == 0) {
        pool[entry] = to;
        biases[entry] = bias;
        edges[2 * std::uint64_t{step}] = from;
        edges[2 * std::uint64_t{step} + 1] = to;
      }
      group.sync();
    }
    for (std::uint64_t i = 2 * std::uint64_t{step} + group.rank(); i < 2 * std::uint64_t{length};
         i += Group::kSize) {
      edges[i] = kNoVertex;
    }
    return step;
  }

 private:
  /// The entry whose region of the pool's CTPS holds x.
  template <class Group>
  SLUICE_HD std::uint32_t find(const Group& group, const std::uint64_t* biases, std::uint64_t x) const {
    std::uint64_t below = 0;
    for (std::uint32_t base = 0;; base += Group::kSize) {
      const std::uint32_t i = base + group.rank();
      const std::uint64_t sum = below + group.inclusive_scan(i < pool_size ? biases[i] : std::uint64_t{0});
      const std::uint32_t hit = group.ballot(sum > x);
      if (hit != 0) return base + group.first(hit);
      below = group.broadcast(sum, Group::kSize - 1);
    }
  }
};

}  // namespace sluice

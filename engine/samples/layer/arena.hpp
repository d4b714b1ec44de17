// Scratch and results of layer samples: one arena slot per instance that is being grown.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/errors.hpp"
#include "engine/samples/instance_job.hpp"
#include "engine/samples/layer/step.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples {

/// The arena's slots as kernels see them.
struct LayerSlots {
  LayerSizes sizes;
  LayerScratch base;

  SLUICE_HD LayerScratch at(std::uint64_t slot) const {
    return {base.frontier + slot * 2 * sizes.frontier, base.sums + slot * sizes.frontier,
            base.bases + slot * sizes.frontier,        base.picks + slot * sizes.layer,
            base.excluded + slot * sizes.layer,        base.words + slot * sizes.words,
            base.visited + slot * sizes.visited,       base.edges + slot * sizes.edges,
            base.depth_counts + slot * sizes.depths,   base.seeds + slot * sizes.frontier};
  }
};

class LayerArena {
 public:
  LayerArena(const Device& device, const LayerSizes& sizes, std::uint64_t slots)
      : sizes_(sizes),
        frontier_(device, slots * 2 * sizes.frontier, kPurpose),
        seeds_(device, slots * sizes.frontier, kPurpose),
        visited_(device, slots * sizes.visited, kPurpose),
        sums_(device, slots * 2 * sizes.frontier, kPurpose),
        picks_(device, slots * 2 * sizes.layer, kPurpose),
        words_(device, slots * sizes.words, kPurpose),
        edges_(device, slots * sizes.edges, kPurpose),
        depth_counts_(device, slots * sizes.depths, kPurpose),
        slots_(slots) {}

  static std::uint64_t bytes_per_slot(const LayerSizes& sizes) {
    return (3 * sizes.frontier + sizes.visited) * sizeof(Vertex) + 2 * (sizes.frontier + sizes.layer) * 8 +
           sizes.edges * sizeof(Edge) + (sizes.depths + sizes.words) * 4;
  }

  LayerSlots view() const {
    return {sizes_,
            {frontier_.data(), sums_.data(), sums_.data() + slots_ * sizes_.frontier, picks_.data(),
             picks_.data() + slots_ * sizes_.layer, words_.data(), visited_.data(), edges_.data(),
             depth_counts_.data(), seeds_.data()}};
  }
  /// Appends the results of slots [begin, begin + size) to a store; slot begin + i has seeds_of(i) seeds.
  /// Throws if seeds_of(i) is a LayerFault (check_layer).
  template <class SeedsOf>
  void append(const Device& device, std::uint64_t begin, std::uint64_t size, const SeedsOf& seeds_of,
              SampleStore& out, RunStats& stats) const;

 private:
  static constexpr const char* kPurpose = "scratch of layer samples";

  LayerSizes sizes_;
  Buffer<Vertex> frontier_, seeds_, visited_;
  Buffer<std::uint64_t> sums_, picks_;
  Buffer<std::uint32_t> words_;
  Buffer<Edge> edges_;
  Buffer<std::uint32_t> depth_counts_;
  std::uint64_t slots_;
};

/// Throws if an instance's number of seeds is a LayerFault: RunError if too heavy, UsageError if exhausted.
inline void check_layer(std::uint32_t seeds, Instance instance) {
  if (seeds == LayerFault::kOverflow) {
    throw RunError("layer: the biases of instance " + std::to_string(instance) +
                   "'s candidates sum to 2^64 or more (use a smaller --layer-size, or --bias none)");
  }
  if (seeds == LayerFault::kExhausted) throw too_many_redraws();
}

/// Appends an instance's result, which is in host memory, to a store.
inline void append_layer(const LayerSizes& sizes, const Edge* edges, const std::uint32_t* depth_counts,
                         const Vertex* seeds, std::uint32_t seed_count, SampleStore& out) {
  check_layer(seed_count, out.first + out.seed_counts.size());
  out.seeds.insert(out.seeds.end(), seeds, seeds + seed_count);
  out.seed_counts.push_back(seed_count);
  std::uint64_t edge_index = 0;
  for (std::uint32_t depth = 1; depth <= sizes.depths; ++depth) {
    for (std::uint32_t i = 0; i < depth_counts[depth - 1]; ++i, ++edge_index) {
      out.add_edge(edges[edge_index].source, edges[edge_index].target, depth, edges[edge_index].position);
    }
  }
  out.edge_counts.push_back(edge_index);
}

template <class SeedsOf>
void LayerArena::append(const Device& device, std::uint64_t begin, std::uint64_t size,
                        const SeedsOf& seeds_of, SampleStore& out, RunStats& stats) const {
  const auto download_all = [&](const auto& buffer, std::uint64_t slot_elements) {
    return download(device, buffer, begin * slot_elements, size * slot_elements, stats);
  };
  const auto edges = download_all(edges_, sizes_.edges);
  const auto depths = download_all(depth_counts_, sizes_.depths);
  const auto seeds = download_all(seeds_, sizes_.frontier);
  for (std::uint64_t i = 0; i < size; ++i) {
    append_layer(sizes_, edges.data() + i * sizes_.edges, depths.data() + i * sizes_.depths,
                 seeds.data() + i * sizes_.frontier, seeds_of(i), out);
  }
}

}  // namespace sluice::samples

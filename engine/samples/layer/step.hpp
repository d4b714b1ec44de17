// Layer samples on a whole graph: one group grows an instance, in scratch whose size is known beforehand.
#pragma once

#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/group_sort.hpp"
#include "engine/random/streams.hpp"
#include "engine/samples/layer/candidates.hpp"
#include "engine/samples/layer/questions.hpp"
#include "engine/samples/layer/sampler.hpp"
#include "engine/select/distinct.hpp"
#include "engine/select/group_set.hpp"
#include "engine/select/options.hpp"

namespace sluice::samples {

/// Scratch and results of one instance; LayerSizes has the capacities.
struct LayerScratch {
  Vertex* frontier;             ///< [2 * frontier] of this depth and of the next
  std::uint64_t* sums;          ///< [frontier]
  std::uint64_t* bases;         ///< [frontier]
  std::uint64_t* picks;         ///< [layer]
  std::uint64_t* excluded;      ///< [layer]
  std::uint32_t* words;         ///< [words]
  Vertex* visited;              ///< [visited] hash set; with --revisit of the seeds only
  Edge* edges;                  ///< [edges] result
  std::uint32_t* depth_counts;  ///< [depths] edges of each depth, result
  Vertex* seeds;                ///< [frontier] result
};

struct LayerSizes {
  std::uint64_t frontier = 0, layer = 0, visited = 0, edges = 0, depths = 0;
  std::uint32_t words = 0;  ///< of a bitmap: one word per pick, whatever the size of the union

  /// The sizes for instances of at most `seeds` seeds.
  template <LayerSampler Sampler>
  static LayerSizes of(const Sampler& sampler, std::uint64_t seeds, bool revisit, Collision collision) {
    LayerSizes sizes;
    sizes.depths = sampler.depth();
    for (std::uint32_t depth = 1; depth <= sizes.depths; ++depth) {
      const std::uint64_t size = sampler.layer_size(depth);
      sizes.layer = size > sizes.layer ? size : sizes.layer;
      sizes.edges += size;
    }
    sizes.frontier = seeds > sizes.layer ? seeds : sizes.layer;
    sizes.visited = set_capacity(seeds + (revisit ? 0 : sizes.edges));
    sizes.words = collision == Collision::linear ? 0 : static_cast<std::uint32_t>(sizes.layer);
    return sizes;
  }
};

/// Errors that replace the number of seeds as the result of an instance.
struct LayerFault {
  /// The biases of a union sum to 2^64 or more; a list may occur in it several times.
  static constexpr std::uint32_t kOverflow = ~std::uint32_t{0};
  /// A list longer than `longest` must be scanned.
  static constexpr std::uint32_t kTooLong = kOverflow - 1;
  /// A layer's redraws used up their random words.
  static constexpr std::uint32_t kExhausted = kOverflow - 2;
};

/// Random words by which a depth selects frontier entries.
struct EntryDraws {
  SampleDraws draws;

  SLUICE_HD friend std::uint64_t draw_at(const EntryDraws& words, Stream, std::uint32_t i) {
    return draw_at(words.draws, Stream::neighbor, i);
  }
};

template <LayerSampler Sampler>
struct LayerProgram : LayerLists {
  Sampler sampler;
  StartsView starts;
  Select select = Select::bipartite;
  Collision collision = Collision::linear;
  bool revisit = false;  ///< every selected edge adds an entry to the next frontier
  std::uint64_t seed = 1;
  LayerSizes sizes;

  /// Grows one instance; returns the number of its seeds, or a LayerFault.
  template <class Group>
  SLUICE_HD std::uint32_t run(const Group& group, Instance instance, const LayerScratch& scratch,
                              PickCounters& counters, std::uint32_t longest = kAnyLength) const {
    const GroupSet<Vertex> visited{scratch.visited, sizes.visited};
    visited.clear(group);
    std::uint32_t lists = write_seeds(group, instance, visited, scratch);
    const std::uint32_t seeds = lists;
    Vertex* frontier = scratch.frontier;
    Vertex* next = scratch.frontier + sizes.frontier;
    std::uint64_t edges = 0;
    for (std::uint32_t depth = 1; depth <= sizes.depths; ++depth) {
      lists = select_entries(group, {{seed, depth, instance}}, frontier, lists, scratch.sums, next);
      if (lists == LayerFault::kOverflow) return lists;
      if (longest != kAnyLength && scans_longer(group, frontier, lists, longest)) return LayerFault::kTooLong;
      LayerCandidates candidates;
      if (!join_lists(group, frontier, lists, scratch, candidates)) return LayerFault::kOverflow;
      const std::uint64_t available = count_available(group, frontier, lists);
      const std::uint64_t wanted = sampler.layer_size(depth);
      const auto count = static_cast<std::uint32_t>(wanted < available ? wanted : available);
      if (count > 0 &&
          !choose(group, candidates, {seed, depth, instance}, count, available, scratch, counters))
        return LayerFault::kExhausted;
      const auto edge_at = [&](std::uint32_t i) { return candidates.at(scratch.picks[i]); };
      lists = record(group, count, edge_at, scratch.edges + edges, visited, next);
      if (group.rank() == 0) scratch.depth_counts[depth - 1] = count;
      edges += count;
      Vertex* const swap = frontier;
      frontier = next;
      next = swap;
    }
    group.sync();
    return seeds;
  }

 protected:
  /// Appends the lanes' values to `list`, in order of lanes, if not yet visited; returns the new length.
  template <class Group>
  SLUICE_HD static std::uint32_t append_new(const Group& group, const GroupSet<Vertex>& visited, bool active,
                                            Vertex v, Vertex* list, std::uint32_t length) {
    const bool repeated = group.equals_lower(active ? v : kNoVertex);
    const bool is_new = active && !repeated && !visited.has(v);
    group.sync();
    if (is_new) visited.insert(v);
    const std::uint32_t added = is_new ? 1 : 0, rank = group.inclusive_scan(added);
    if (is_new) list[length + rank - 1] = v;
    group.sync();
    return length + group.broadcast(rank, Group::kSize - 1);
  }

  /// As append_new(), but with --revisit appends visited values too.
  template <class Group>
  SLUICE_HD std::uint32_t append_reached(const Group& group, const GroupSet<Vertex>& visited, bool active,
                                         Vertex v, Vertex* list, std::uint32_t length) const {
    if (!revisit) return append_new(group, visited, active, v, list, length);
    const std::uint32_t rank = group.inclusive_scan(active ? 1u : 0u);
    if (active) list[length + rank - 1] = v;
    return length + group.broadcast(rank, Group::kSize - 1);
  }

  /// Makes the seeds the first frontier. A repeated seed counts once, even with --revisit.
  template <class Group>
  SLUICE_HD std::uint32_t write_seeds(const Group& group, Instance instance, const GroupSet<Vertex>& visited,
                                      const LayerScratch& scratch) const {
    const std::uint64_t count = starts.count(instance);
    std::uint32_t length = 0;
    for (std::uint64_t base = 0; base < count; base += Group::kSize) {
      const bool active = base + group.rank() < count;
      const Vertex v = active ? starts.seed_vertex(instance, base + group.rank()) : kNoVertex;
      length = append_new(group, visited, active, v, scratch.frontier, length);
    }
    group.sync();
    for (std::uint32_t i = group.rank(); i < length; i += Group::kSize)
      scratch.seeds[i] = scratch.frontier[i];
    return length;
  }

  /// Reduces the frontier to the entries whose lists a depth pools, in order; returns their number, or
  /// kOverflow. `sums` and `scratch` have the frontier's length.
  template <class Group>
  SLUICE_HD std::uint32_t select_entries(const Group& group, const EntryDraws& draws, Vertex* frontier,
                                         std::uint32_t entries, std::uint64_t* sums, Vertex* scratch) const {
    if constexpr (HasLayerFrontier<Sampler>) {
      const auto bias_of = [&](std::uint32_t i) -> std::uint64_t {
        if constexpr (HasVertexBias<Sampler>) return sampler.vertex_bias(graph, frontier[i]);
        return 1;
      };
      if (!inclusive_sums(group, entries, bias_of, sums)) return LayerFault::kOverflow;
      const CtpsCandidates candidates{sums, entries};
      const std::uint32_t positive_count = compact_in_order(
          group, entries, [&](std::uint32_t i) { return candidates.width(i) > 0; },
          [&](std::uint32_t k, std::uint32_t i) { scratch[k] = i; });
      const std::uint64_t wanted = sampler.frontier_size(static_cast<std::uint32_t>(draws.draws.slot));
      group.sync();
      if (wanted >= positive_count) {
        entries = positive_count;
      } else {
        entries = static_cast<std::uint32_t>(wanted);
        PickCounters counters;
        const Taken<std::uint32_t> taken{Collision::linear, nullptr, 0, scratch};
        DistinctPicker(group, candidates, draws, Select::updated, taken, scratch, nullptr)
            .pick(entries, counters);
        group_sort(group, scratch, entries);
      }
      for (std::uint32_t i = group.rank(); i < entries; i += Group::kSize) scratch[i] = frontier[scratch[i]];
      group.sync();
      for (std::uint32_t i = group.rank(); i < entries; i += Group::kSize) frontier[i] = scratch[i];
      group.sync();
    }
    return entries;
  }

  /// Writes the inclusive sums of value(i), i < size, to `sums`; false if they do not fit 64 bits.
  template <class Group, class Value>
  SLUICE_HD static bool inclusive_sums(const Group& group, std::uint32_t size, const Value& value,
                                       std::uint64_t* sums) {
    std::uint64_t sum = 0;
    bool wraps = false;
    for (std::uint32_t base = 0; base < size; base += Group::kSize) {
      const std::uint32_t i = base + group.rank();
      const std::uint64_t lane_value = i < size ? value(i) : 0, lane_sum = group.inclusive_scan(lane_value);
      wraps |= lane_sum < lane_value || sum + lane_sum < sum;
      if (i < size) sums[i] = sum + lane_sum;
      sum += group.broadcast(lane_sum, Group::kSize - 1);
    }
    group.sync();
    return group.ballot(wraps) == 0;
  }

  /// True if a list of more than `longest` edges must be scanned.
  template <class Group>
  SLUICE_HD bool scans_longer(const Group& group, const Vertex* frontier, std::uint32_t lists,
                              std::uint32_t longest) const {
    if (bias != LayerBias::weight) return false;
    bool longer = false;
    for (std::uint32_t i = group.rank(); i < lists; i += Group::kSize)
      longer |= graph.degree(frontier[i]) > longest;
    return group.ballot(longer) != 0;
  }

  /// Makes `all` the union of the frontier's lists; false if the sum of its biases does not fit 64 bits.
  template <class Group>
  SLUICE_HD bool join_lists(const Group& group, const Vertex* frontier, std::uint32_t lists,
                            const LayerScratch& scratch, LayerCandidates& candidates) const {
    candidates = {graph,    bias,         cumulative,    largest_exponent(group, frontier, lists),
                  frontier, scratch.sums, scratch.bases, lists};
    std::uint64_t sum = 0, base = 0;
    for (std::uint32_t list = 0; list < lists; ++list) {
      const Row row = graph.row(frontier[list]);
      const std::uint64_t added = list_sum(group, candidates, row);
      if (sum + added < sum) return false;
      sum += added;
      base += row.degree;
      if (group.rank() == 0) scratch.sums[list] = sum, scratch.bases[list] = base;
    }
    group.sync();
    return true;
  }

  /// Weight bias: the exponent of the frontier's largest weight.
  template <class Group>
  SLUICE_HD int largest_exponent(const Group& group, const Vertex* frontier, std::uint32_t lists) const {
    int exponent = -32768;
    if (bias != LayerBias::weight) return exponent;
    for (std::uint32_t i = group.rank(); i < lists; i += Group::kSize) {
      const int list_exponent = graph.exponents[frontier[i]];
      exponent = list_exponent > exponent ? list_exponent : exponent;
    }
    return group.maximum(exponent);
  }

  template <class Group>
  SLUICE_HD std::uint64_t count_available(const Group& group, const Vertex* frontier,
                                          std::uint32_t lists) const {
    std::uint64_t lane_sum = 0;
    for (std::uint32_t i = group.rank(); i < lists; i += Group::kSize) lane_sum += candidates(frontier[i]);
    return group.sum(lane_sum);
  }

  /// Writes `count` selected candidates to scratch.picks, ascending; false: see DistinctPicker::pick.
  template <class Group>
  SLUICE_HD bool choose(const Group& group, const LayerCandidates& candidates, const SampleDraws& draws,
                        std::uint32_t count, std::uint64_t available, const LayerScratch& scratch,
                        PickCounters& counters) const {
    if (count == available) {
      pick_all(group, candidates, scratch.picks);
    } else {
      DistinctPicker<Group, LayerCandidates, SampleDraws> picker(
          group, candidates, draws, select, none_taken(group, scratch), scratch.picks, scratch.excluded);
      if (!picker.pick(count, counters)) return false;
    }
    group_sort(group, scratch.picks, count);
    return true;
  }

  /// The set of picks for collision tests, empty before the first pick.
  template <class Group>
  SLUICE_HD Taken<std::uint64_t> none_taken(const Group& group, const LayerScratch& scratch) const {
    const Taken<std::uint64_t> taken{collision, scratch.words, sizes.words, scratch.picks, false};
    taken.clear_all(group);
    return taken;
  }

  template <class Group>
  SLUICE_HD void pick_all(const Group& group, const LayerCandidates& candidates, std::uint64_t* picks) const {
    std::uint64_t base = 0;
    std::uint32_t length = 0;
    for (std::uint32_t list = 0; list < candidates.lists; ++list) {
      const Row row = graph.row(candidates.frontier[list]);
      length += compact_in_order(
          group, row.degree, [&](std::uint32_t i) { return candidates.bias_at(row, i) > 0; },
          [&](std::uint32_t k, std::uint32_t i) { picks[length + k] = base + i; });
      base += row.degree;
    }
    group.sync();
  }

  /// Writes the selected edges, edge_at(i), and the next frontier, which they reach; returns its length.
  template <class Group, class EdgeAt>
  SLUICE_HD std::uint32_t record(const Group& group, std::uint32_t count, const EdgeAt& edge_at, Edge* edges,
                                 const GroupSet<Vertex>& visited, Vertex* next) const {
    std::uint32_t length = 0;
    for (std::uint32_t base = 0; base < count; base += Group::kSize) {
      const std::uint32_t i = base + group.rank();
      const bool active = i < count;
      const Edge edge = active ? edge_at(i) : Edge{};
      if (active) edges[i] = edge;
      const Vertex reached = active ? vertex_after(sampler, graph, edge) : kNoVertex;
      length = append_reached(group, visited, reached != kNoVertex, reached, next, length);
    }
    group.sync();
    return length;
  }
};

}  // namespace sluice::samples

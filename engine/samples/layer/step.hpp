// Layer samples on a whole graph: one group grows an instance, in scratch whose size is known beforehand.
#pragma once

#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/group.hpp"
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
  static constexpr std::uint32_t kTooHeavy = ~std::uint32_t{0};
  /// A list longer than `longest` must be scanned.
  static constexpr std::uint32_t kTooLong = kTooHeavy - 1;
  /// A layer's redraws used up their random words.
  static constexpr std::uint32_t kExhausted = kTooHeavy - 2;
};

/// Random words by which a depth selects frontier entries.
struct EntryDraws {
  SampleDraws draws;

  SLUICE_HD friend std::uint64_t draw_at(const EntryDraws& own, Stream, std::uint32_t i) {
    return draw_at(own.draws, Stream::neighbor, i);
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
    std::uint32_t lists = plant(group, instance, visited, scratch);
    const std::uint32_t seeds = lists;
    Vertex* frontier = scratch.frontier;
    Vertex* next = scratch.frontier + sizes.frontier;
    std::uint64_t edges = 0;
    for (std::uint32_t depth = 1; depth <= sizes.depths; ++depth) {
      lists = select_entries(group, {{seed, depth, instance}}, frontier, lists, scratch.sums, next);
      if (lists == LayerFault::kTooHeavy) return lists;
      if (longest != kAnyLength && walks_longer(group, frontier, lists, longest)) return LayerFault::kTooLong;
      LayerCandidates all;
      if (!unite(group, frontier, lists, scratch, all)) return LayerFault::kTooHeavy;
      const std::uint64_t available = count_available(group, frontier, lists);
      const std::uint64_t wanted = sampler.layer_size(depth);
      const auto count = static_cast<std::uint32_t>(wanted < available ? wanted : available);
      if (count > 0 && !choose(group, all, {seed, depth, instance}, count, available, scratch, counters))
        return LayerFault::kExhausted;
      const auto edge_at = [&](std::uint32_t i) { return all.at(scratch.picks[i]); };
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
    const bool fresh = active && !repeated && !visited.has(v);
    group.sync();
    if (fresh) visited.insert(v);
    const std::uint32_t added = fresh ? 1 : 0, rank = group.inclusive_scan(added);
    if (fresh) list[length + rank - 1] = v;
    group.sync();
    return length + group.broadcast(rank, Group::kSize - 1);
  }

  /// As append_new(), but with --revisit appends visited values too.
  template <class Group>
  SLUICE_HD std::uint32_t reach(const Group& group, const GroupSet<Vertex>& visited, bool active, Vertex v,
                                Vertex* list, std::uint32_t length) const {
    if (!revisit) return append_new(group, visited, active, v, list, length);
    const std::uint32_t rank = group.inclusive_scan(active ? 1u : 0u);
    if (active) list[length + rank - 1] = v;
    return length + group.broadcast(rank, Group::kSize - 1);
  }

  /// Makes the seeds the first frontier. A repeated seed counts once, even with --revisit.
  template <class Group>
  SLUICE_HD std::uint32_t plant(const Group& group, Instance instance, const GroupSet<Vertex>& visited,
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
  /// kTooHeavy. `sums` and `spare` are scratch of the frontier's length.
  template <class Group>
  SLUICE_HD std::uint32_t select_entries(const Group& group, const EntryDraws& draws, Vertex* frontier,
                                         std::uint32_t entries, std::uint64_t* sums, Vertex* spare) const {
    if constexpr (HasLayerFrontier<Sampler>) {
      const auto bias_of = [&](std::uint32_t i) -> std::uint64_t {
        if constexpr (HasVertexBias<Sampler>) return sampler.vertex_bias(graph, frontier[i]);
        return 1;
      };
      if (!sum_up(group, entries, bias_of, sums)) return LayerFault::kTooHeavy;
      const CtpsCandidates candidates{sums, entries};
      const std::uint32_t all = compact_in_order(
          group, entries, [&](std::uint32_t i) { return candidates.width(i) > 0; },
          [&](std::uint32_t k, std::uint32_t i) { spare[k] = i; });
      const std::uint64_t wanted = sampler.frontier_size(static_cast<std::uint32_t>(draws.draws.slot));
      group.sync();
      if (wanted >= all) {
        entries = all;
      } else {
        entries = static_cast<std::uint32_t>(wanted);
        PickCounters counters;
        const Taken<std::uint32_t> taken{Collision::linear, nullptr, 0, spare};
        DistinctPicker(group, candidates, draws, Select::updated, taken, spare, nullptr)
            .pick(entries, counters);
        group_sort(group, spare, entries);
      }
      for (std::uint32_t i = group.rank(); i < entries; i += Group::kSize) spare[i] = frontier[spare[i]];
      group.sync();
      for (std::uint32_t i = group.rank(); i < entries; i += Group::kSize) frontier[i] = spare[i];
      group.sync();
    }
    return entries;
  }

  /// Writes the inclusive sums of value(i), i < size, to `sums`; false if they do not fit 64 bits.
  template <class Group, class Value>
  SLUICE_HD static bool sum_up(const Group& group, std::uint32_t size, const Value& value,
                               std::uint64_t* sums) {
    std::uint64_t sum = 0;
    bool wraps = false;
    for (std::uint32_t from = 0; from < size; from += Group::kSize) {
      const std::uint32_t i = from + group.rank();
      const std::uint64_t own = i < size ? value(i) : 0, up_to = group.inclusive_scan(own);
      wraps |= up_to < own || sum + up_to < sum;
      if (i < size) sums[i] = sum + up_to;
      sum += group.broadcast(up_to, Group::kSize - 1);
    }
    group.sync();
    return group.ballot(wraps) == 0;
  }

  /// True if a list of more than `longest` edges must be scanned.
  template <class Group>
  SLUICE_HD bool walks_longer(const Group& group, const Vertex* frontier, std::uint32_t lists,
                              std::uint32_t longest) const {
    if (bias != LayerBias::weight) return false;
    bool longer = false;
    for (std::uint32_t i = group.rank(); i < lists; i += Group::kSize)
      longer |= graph.degree(frontier[i]) > longest;
    return group.ballot(longer) != 0;
  }

  /// Makes `all` the union of the frontier's lists; false if the sum of its biases does not fit 64 bits.
  template <class Group>
  SLUICE_HD bool unite(const Group& group, const Vertex* frontier, std::uint32_t lists,
                       const LayerScratch& scratch, LayerCandidates& all) const {
    all = {graph,    bias,         cumulative,    largest_exponent(group, frontier, lists),
           frontier, scratch.sums, scratch.bases, lists};
    std::uint64_t sum = 0, base = 0;
    for (std::uint32_t list = 0; list < lists; ++list) {
      const Row row = graph.row(frontier[list]);
      const std::uint64_t own = list_sum(group, all, row);
      if (sum + own < sum) return false;
      sum += own;
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
      const int own = graph.exponents[frontier[i]];
      exponent = own > exponent ? own : exponent;
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
  SLUICE_HD bool choose(const Group& group, const LayerCandidates& all, const SampleDraws& draws,
                        std::uint32_t count, std::uint64_t available, const LayerScratch& scratch,
                        PickCounters& counters) const {
    if (count == available) {
      take_all(group, all, scratch.picks);
    } else {
      DistinctPicker<Group, LayerCandidates, SampleDraws> picker(
          group, all, draws, select, none_taken(group, scratch), scratch.picks, scratch.excluded);
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
  SLUICE_HD void take_all(const Group& group, const LayerCandidates& all, std::uint64_t* picks) const {
    std::uint64_t base = 0;
    std::uint32_t length = 0;
    for (std::uint32_t list = 0; list < all.lists; ++list) {
      const Row row = graph.row(all.frontier[list]);
      length += compact_in_order(
          group, row.degree, [&](std::uint32_t i) { return all.bias_at(row, i) > 0; },
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
      const Vertex to = active ? vertex_after(sampler, graph, edge) : kNoVertex;
      length = reach(group, visited, to != kNoVertex, to, next, length);
    }
    group.sync();
    return length;
  }
};

}  // namespace sluice::samples

// Walks of a pool of vertices (C-SAW table I), one group per instance.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/samples/pool/bias_tree.hpp"
#include "engine/samples/pool/sampler.hpp"
#include "engine/select/candidates.hpp"
#include "engine/select/distinct.hpp"

namespace sluice::samples {

/// State of a pool's walk between two selected entries.
struct PoolState {
  std::uint64_t total = 0;  ///< sum of the biases of entries that may be selected
  std::uint32_t step = 0;
  std::uint32_t entries = 0;   ///< entries of the pool
  std::uint32_t selected = 0;  ///< entries that the step has selected
  std::uint32_t expanded = 0;  ///< selected entries whose neighbours are taken
  std::uint32_t entry = 0;     ///< the current entry
  std::uint32_t edge = 0;      ///< edges of the step so far
  std::uint32_t edges = 0;     ///< edges of earlier steps
  // In partitions only: the draw of a neighbour from a list that is not resident (PoolDraw); its target if
  // another rank sent it; and whether another rank sent the targets of several neighbours.
  Vertex target = kNoVertex;
  bool answered = false;
  std::uint64_t draw = 0;
  std::uint64_t in_place_bytes = 0;  ///< bytes of lists read in place
};

/// The number of elements of each array of an instance.
struct PoolSizes {
  std::uint64_t seeds = 1, entries = 1, selected = 0, targets = 0, edges = 0;

  SLUICE_HD constexpr std::uint64_t biases() const { return BiasTree::size(entries); }
  constexpr std::uint64_t bytes() const {
    return (seeds + entries + targets + 2 * edges) * sizeof(Vertex) + biases() * sizeof(std::uint64_t) +
           selected * sizeof(std::uint32_t);
  }
};
/// Further bytes of an instance on a graph in partitions: its state, and the vertex whose list it waits for.
inline constexpr std::uint64_t kParkedPoolBytes = sizeof(PoolState) + sizeof(Vertex);
/// Instances in each of the host's two batches: one is written while the other runs.
inline std::uint64_t host_pool_batch(std::uint64_t instance_bytes, std::uint64_t instances,
                                     std::uint64_t available) {
  constexpr std::uint64_t kBatchBytes = 64u << 20;
  const std::uint64_t fitting =
      std::min(kBatchBytes, available / 2) / std::max<std::uint64_t>(instance_bytes, 1);
  return std::clamp<std::uint64_t>(fitting, 1, std::max<std::uint64_t>(instances, 1));
}

/// Random words by which an entry of a step selects neighbours.
struct NeighborDraws {
  WalkDraws draws;
  std::uint32_t entry, neighbors;

  /// The word of neighbour j; DistinctPicker draws its first choices with these words.
  SLUICE_HD friend std::uint64_t draw_at(const NeighborDraws& words, Stream, std::uint32_t j) {
    if (j == 0) return words.draws.block(Stream::select, words.entry).high();
    return draw_at(words.draws, Stream::neighbor, words.entry * (words.neighbors - 1) + j - 1);
  }
};

/// The draw of a neighbour from a list: the edge's position, or for a list with a CTPS the random word that
/// selects the edge there.
template <bool kTabled>
struct PoolDraw {
  SLUICE_HD static std::uint64_t make(const Row& row, std::uint64_t word) {
    return kTabled ? word : row.offset + uniform_index(word, row.degree);
  }
  /// The target of a draw; `lists` has the columns of the list.
  template <class Lists>
  SLUICE_HD static Vertex target(const Lists& lists, const Row& row, std::uint64_t draw) {
    if constexpr (kTabled)
      draw = row.offset + inverse_transform(lists.cumulative + row.offset, row.degree, draw);
    return lists.targets[draw];
  }
  /// The targets of `count` neighbours in the order of drawing. Distinct ones are drawn from the space that
  /// earlier picks leave, which needs no further words.
  template <class Group, class Lists>
  SLUICE_HD static void targets(const Group& group, const Lists& lists, const Row& row,
                                const NeighborDraws& draws, std::uint32_t count, bool distinct,
                                Vertex* output) {
    if (!distinct) {
      for (std::uint32_t j = group.rank(); j < count; j += Group::kSize)
        output[j] = target(lists, row, make(row, draw_at(draws, Stream::select, j)));
      return group.sync();
    }
    const auto candidates = candidates_of(lists, row);
    PickCounters counters;
    const Taken<std::uint32_t> taken{Collision::linear, nullptr, 0, output};
    DistinctPicker(group, candidates, draws, Select::updated, taken, output, nullptr).pick(count, counters);
    for (std::uint32_t j = group.rank(); j < count; j += Group::kSize)
      output[j] = lists.targets[row.offset + output[j]];
    group.sync();
  }
  /// Bytes of the list that one draw reads.
  SLUICE_HD static std::uint64_t bytes(const Row& row) {
    return kTargetBytes + (kTabled ? ctps_bytes(row.degree) : 0);
  }

 private:
  template <class Lists>
  SLUICE_HD static auto candidates_of(const Lists& lists, const Row& row) {
    if constexpr (kTabled) {
      return CtpsCandidates{lists.cumulative + row.offset, row.degree};
    } else {
      return UniformCandidates{row.degree};
    }
  }
};

/// The lists of a whole graph, all of them resident.
template <bool kTabled>
struct WholeLists {
  const Vertex* targets;
  const std::uint64_t* cumulative;

  SLUICE_HD Vertex target(Vertex, const Row& row, const PoolState& state) const {
    return PoolDraw<kTabled>::target(*this, row, state.draw);
  }
  template <class Group>
  SLUICE_HD bool fetch_targets(const Group& group, Vertex, const Row& row, const NeighborDraws& draws,
                               std::uint32_t count, bool distinct, Vertex* output, PoolState&) const {
    PoolDraw<kTabled>::targets(group, *this, row, draws, count, distinct, output);
    return true;
  }
};

/// The lists of the resident partitions.
template <bool kTabled>
struct PagedLists {
  PageMap map;

  /// The target of the state's draw in the list of `v`; kNoVertex if the list is not resident.
  SLUICE_HD Vertex target(Vertex v, const Row& row, PoolState& state) const {
    if (state.target != kNoVertex) return state.target;
    const std::uint32_t slot = map.slot(v);
    if (slot == PageMap::kNoSlot) return kNoVertex;
    if (slot == map.in_place) state.in_place_bytes += PoolDraw<kTabled>::bytes(row);
    return PoolDraw<kTabled>::target(map.pages[slot], row, state.draw);
  }
  /// Writes the targets of `count` neighbours of `v` to `output` unless another rank sent them; false if the
  /// list of `v` is not resident.
  template <class Group>
  SLUICE_HD bool fetch_targets(const Group& group, Vertex v, const Row& row, const NeighborDraws& draws,
                               std::uint32_t count, bool distinct, Vertex* output, PoolState& state) const {
    if (state.answered) return true;
    const std::uint32_t slot = map.slot(v);
    if (slot == PageMap::kNoSlot) return false;
    if (slot == map.in_place) state.in_place_bytes += count * PoolDraw<kTabled>::bytes(row);
    PoolDraw<kTabled>::targets(group, map.pages[slot], row, draws, count, distinct, output);
    return true;
  }
};

/// Scratch and results of one instance; PoolSizes has the numbers of elements.
struct PoolRow {
  Vertex *seeds, *pool;
  BiasTree biases;          ///< biases of the pool's entries
  std::uint32_t* selected;  ///< entries that the step has selected, if there may be several
  Vertex* targets;          ///< targets of the current entry, if there may be several
  Vertex* edges;            ///< sources and targets
};

template <PoolSampler Sampler>
struct PoolProgram {
  static constexpr bool kTabled = HasEdgeBias<Sampler>;
  /// True if an entry may select several neighbours.
  static constexpr bool kBranches = HasPoolNeighborSize<Sampler>;
  /// True if the number of edges may differ between steps.
  static constexpr bool kVaries = HasFrontierSize<Sampler> || HasPoolReplacement<Sampler>;

  GraphView graph;
  Sampler sampler;
  StartsView starts;
  std::uint64_t seed = 1;
  std::uint32_t length = 0;
  std::uint32_t pool_size = 1;  ///< seeds per pool; a pool with fewer seeds is padded with kNoVertex
  const std::uint64_t* cumulative = nullptr;  ///< edge_bias: CTPS of every list
  const std::uint32_t* positive = nullptr;    ///< edge_bias: edges of positive bias of every list

  SLUICE_HD std::uint32_t frontier_size() const {
    if constexpr (HasFrontierSize<Sampler>) {
      return sampler.frontier_size();
    } else {
      return 1;
    }
  }
  SLUICE_HD std::uint32_t neighbor_size() const {
    if constexpr (HasPoolNeighborSize<Sampler>) {
      return sampler.neighbor_size();
    } else {
      return 1;
    }
  }
  SLUICE_HD bool distinct() const {
    if constexpr (HasPoolReplacement<Sampler>) {
      return !sampler.replacement();
    } else {
      return false;
    }
  }
  /// Number of neighbours that an entry at `v` selects.
  SLUICE_HD std::uint32_t neighbors_of(Vertex v, const Row& row) const {
    const std::uint32_t wanted = neighbor_size();
    if (!distinct()) return wanted;
    const std::uint32_t candidates = kTabled ? positive[v] : row.degree;
    return wanted < candidates ? wanted : candidates;
  }
  PoolSizes sizes() const {
    const std::uint64_t frontier = frontier_size(), neighbors = neighbor_size(), steps = length;
    return {.seeds = pool_size,
            .entries = pool_size + steps * frontier * (neighbors - 1),
            .selected = frontier > 1 ? frontier : 0,
            .targets = kBranches ? neighbors : 0,
            .edges = steps * frontier * neighbors};
  }
  /// Number of edges selected before the state's step.
  SLUICE_HD std::uint32_t edges_before(const PoolState& state) const {
    return kVaries ? state.edges : state.step * neighbor_size();
  }

  /// Runs one instance. Returns how many edges it selected.
  template <class Group>
  SLUICE_HD std::uint32_t run(const Group& group, Instance instance, const PoolRow& row) const {
    PoolState state = begin(group, instance, row);
    walk(group, instance, state, row, WholeLists<kTabled>{graph.csr.targets, cumulative});
    end(group, state, row);
    return edges_before(state);
  }

  /// Fills the pool with the instance's seeds.
  template <class Group>
  SLUICE_HD PoolState begin(const Group& group, Instance instance, const PoolRow& row) const {
    std::uint64_t lane_sum = 0;
    const std::uint64_t count = starts.count(instance);
    for (std::uint32_t i = group.rank(); i < pool_size; i += Group::kSize) {
      const Vertex v = i < count ? starts.seed_vertex(instance, i) : kNoVertex;
      row.seeds[i] = row.pool[i] = v;
      row.biases.biases[i] = bias_of(v);
      lane_sum += row.biases.biases[i];
    }
    for (std::uint64_t i = pool_size + group.rank(); i < row.biases.capacity; i += Group::kSize)
      row.biases.biases[i] = 0;
    const std::uint64_t total = group.sum(lane_sum);
    row.biases.build(group);  // afterwards any lane may read the pool
    return {.total = total, .entries = pool_size};
  }

  /// Walks through resident lists; returns the vertex of the first list that is not, or kNoVertex at the end.
  template <class Group, class Lists>
  SLUICE_HD Vertex walk(const Group& group, Instance instance, PoolState& state, const PoolRow& row,
                        const Lists& lists) const {
    for (; state.step < length; ++state.step) {
      const WalkDraws draws{seed, state.step, instance};
      const PhiloxBlock first_block = draws.block(Stream::select);
      if (state.selected == 0 && !select(group, draws, first_block, state, row)) return kNoVertex;
      for (; state.expanded < state.selected; ++state.expanded) {
        const Vertex awaited = expand_entry(group, draws, first_block, state, row, lists);
        if (awaited != kNoVertex) return awaited;
      }
      end_step(group, state, row);
    }
    return kNoVertex;
  }

  /// Marks the edges of steps that the walk did not reach as absent.
  template <class Group>
  SLUICE_HD void end(const Group& group, const PoolState& state, const PoolRow& row) const {
    fill(group, row, state.step * width(), length * width());
  }

 private:
  /// The most edges of a step.
  SLUICE_HD std::uint64_t width() const { return std::uint64_t{frontier_size()} * neighbor_size(); }

  SLUICE_HD std::uint64_t bias_of(Vertex v) const {
    if (v == kNoVertex) return 0;
    if constexpr (kTabled) {
      if (positive[v] == 0) return 0;
    }
    return sampler.vertex_bias(graph, v);
  }

  /// The entry in whose interval of the biases' prefix sums x lies. A sampler with ScansPool scans all biases
  /// instead of using the tree, as a baseline for sluice-bench papers.
  template <class Group>
  SLUICE_HD static std::uint32_t find(const Group& group, const BiasTree& biases, std::uint64_t x) {
    if constexpr (requires { typename Sampler::ScansPool; }) {
      const auto bias = [&](std::uint64_t i) { return biases.biases[i]; };
      return static_cast<std::uint32_t>(first_sum_above(group, biases.capacity, x, bias).index());
    } else {
      return biases.find(group, x);
    }
  }

  /// Selects the step's entries; false if no bias is above 0. `total` omits them until they are replaced.
  template <class Group>
  SLUICE_HD bool select(const Group& group, const WalkDraws& draws, const PhiloxBlock& first_block,
                        PoolState& state, const PoolRow& row) const {
    while (state.selected < frontier_size() && state.total > 0) {
      const PhiloxBlock block =
          state.selected == 0 ? first_block : draws.block(Stream::select, state.selected);
      state.entry = find(group, row.biases, uniform_index(block.low(), state.total));
      state.total -= row.biases.biases[state.entry];
      if constexpr (HasFrontierSize<Sampler>) {
        group.sync();
        if (group.rank() == 0) {
          row.biases.set(state.entry, 0);
          if (frontier_size() > 1) row.selected[state.selected] = state.entry;
        }
        group.sync();
      }
      ++state.selected;
    }
    return state.selected > 0;
  }

  /// Takes the edges of the step's next entry. Returns the vertex whose list it waits for, or kNoVertex.
  template <class Group, class Lists>
  SLUICE_HD Vertex expand_entry(const Group& group, const WalkDraws& draws, const PhiloxBlock& first_block,
                                PoolState& state, const PoolRow& row, const Lists& lists) const {
    if (frontier_size() > 1) state.entry = row.selected[state.expanded];
    const Vertex from = row.pool[state.entry];
    const Row list = graph.row(from);
    if constexpr (kBranches) {
      const std::uint32_t count = neighbors_of(from, list);
      const NeighborDraws neighbor_draws{draws, state.expanded, neighbor_size()};
      if (!lists.fetch_targets(group, from, list, neighbor_draws, count, distinct(), row.targets, state))
        return from;
      state.answered = false;
      for (std::uint32_t j = 0; j < count; ++j) add_edge(group, state, row, from, row.targets[j], j == 0);
    } else {
      const std::uint64_t word =
          state.expanded == 0 ? first_block.high() : draws.block(Stream::select, state.expanded).high();
      state.draw = PoolDraw<kTabled>::make(list, word);
      const Vertex to = lists.target(from, list, state);
      if (to == kNoVertex) return from;
      state.target = kNoVertex;
      add_edge(group, state, row, from, to, true);
    }
    return kNoVertex;
  }

  /// Records an edge. The vertex that it adds replaces the current entry, or is appended to the pool.
  template <class Group>
  SLUICE_HD void add_edge(const Group& group, PoolState& state, const PoolRow& row, Vertex from, Vertex to,
                          bool replaces_entry) const {
    Vertex* const edge = row.edges + 2 * (state.step * width() + state.edge++);
    const Vertex member = added_vertex(from, to);
    const std::uint64_t bias = bias_of(member);
    state.total += bias;
    const std::uint32_t position = replaces_entry ? state.entry : state.entries++;
    group.sync();
    if (group.rank() == 0) {
      row.pool[position] = member;
      row.biases.set(position, bias);
      edge[0] = from;
      edge[1] = to;
    }
    group.sync();
  }

  SLUICE_HD Vertex added_vertex(Vertex from, Vertex to) const {
    if constexpr (HasPoolUpdate<Sampler>) {
      return sampler.update(graph, from, to);
    } else {
      return to;
    }
  }

  /// Ends a step.
  template <class Group>
  SLUICE_HD void end_step(const Group& group, PoolState& state, const PoolRow& row) const {
    if constexpr (kVaries) {
      fill(group, row, state.step * width() + state.edge, (state.step + 1) * width());
      state.edges += state.edge;
    }
    state.selected = state.expanded = state.edge = 0;
  }

  /// Marks edges [begin, end) as absent.
  template <class Group>
  SLUICE_HD static void fill(const Group& group, const PoolRow& row, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = 2 * begin + group.rank(); i < 2 * end; i += Group::kSize) row.edges[i] = kNoVertex;
  }
};

}  // namespace sluice::samples

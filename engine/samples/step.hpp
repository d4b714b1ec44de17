// One expansion of a sample, for host and device alike: how many edges a frontier vertex selects, and which.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/samples/traversal.hpp"
#include "engine/select/candidates.hpp"
#include "engine/select/distinct.hpp"
#include "engine/select/taken.hpp"

namespace sluice::samples {

/// A frontier entry. `slot` keys its random draws: it is the vertex, or with tree semantics the entry's
/// number in its instance.
struct FrontierEntry {
  std::uint32_t instance = 0;  ///< relative to the batch
  Vertex vertex = kNoVertex;
  std::uint64_t slot = 0;
};

/// Scratch of a group that selects: picks, regions that a redraw excludes, a bitmap of taken candidates.
struct PickScratch {
  std::uint32_t* picks = nullptr;
  std::uint32_t* excluded = nullptr;
  std::uint32_t* words = nullptr;  ///< bitmaps only
  std::uint64_t* sums = nullptr;   ///< dynamic bias only: the list's CTPS
  std::uint32_t max_words = ~0u;   ///< size of `words`; if too small for a list, candidates share bits
};

/// Tables of the sampler's fixed bias. A table that the technique does not read is null. All null: uniform.
struct SampleTables {
  const std::uint64_t* cumulative = nullptr;
  const std::uint64_t* thresholds = nullptr;
  const std::uint32_t* others = nullptr;
  const std::uint64_t* bounds = nullptr;
  const std::uint32_t* positive = nullptr;  ///< null: every candidate has positive bias
};

template <TraversalSampler Sampler>
struct SampleProgram {
  GraphView graph;
  Sampler sampler;
  SampleTables tables;
  Select select = Select::automatic;  ///< resolved: automatic means a uniform index
  Collision collision = Collision::linear;
  bool uniform = true;              ///< all candidates have the same bias: no table is read
  bool all_are_candidates = false;  ///< dynamic bias: positive and in bounds by the sampler's bounds alone
  std::uint64_t seed = 1;
  Instance first = 0;  ///< instance of the batch's entry 0
  CodedLists coded;    ///< coded lists of a partition; only target_on_page reads them

  /// Rejection trials per pick, and how many picks one random stream then serves.
  static constexpr std::uint32_t kTrials = 64;
  static constexpr std::uint32_t kMaxRejectionPicks = kMaxDraws / kTrials;

  /// True if the sampler has an update hook, which names the vertex that an edge adds to the frontier.
  static constexpr bool kUpdates = HasFrontierUpdate<Sampler>;
  /// True if the bias is known only when a vertex is expanded. Then DynamicList makes the draws, and
  /// frontiers store the parents of their entries.
  static constexpr bool kDynamic = Sampler::kBias == BiasClass::dynamic;

  SLUICE_HD SampleDraws draws(const FrontierEntry& entry) const {
    return {seed, entry.slot, first + entry.instance};
  }
  /// `previous`: source of the edge that reached the entry; only dynamic samplers store and read it.
  SLUICE_HD ExpansionOf<Sampler> expansion(const FrontierEntry& entry, std::uint32_t depth,
                                           Vertex previous = kNoVertex) const {
    const Expansion at{first + entry.instance, entry.vertex, depth};
    if constexpr (kDynamic) {
      return {at, previous};
    } else {
      return at;
    }
  }
  /// The most draws from one list for which the stream has separate random words.
  SLUICE_HD std::uint32_t max_draws() const {
    return select == Select::rejection ? kMaxRejectionPicks : kMaxDraws;
  }
  SLUICE_HD std::uint32_t candidates(Vertex v, const Row& row) const {
    return tables.positive ? tables.positive[v] : row.degree;
  }

  /// How many edges this entry selects.
  SLUICE_HD std::uint64_t size(const ExpansionOf<Sampler>& at, const SampleDraws& random,
                               std::uint32_t available) const {
    if (available == 0) return 0;
    const std::uint64_t wanted = sampler.neighbor_size(graph, at, available, random);
    if (wanted == kAllNeighbors) return available;
    return sampler.replacement() || wanted < available ? wanted : available;
  }
  /// True if nothing is drawn, as the entry takes every candidate; with replacement only by kAllNeighbors.
  SLUICE_HD bool takes_all(std::uint64_t size, const ExpansionOf<Sampler>& at, const SampleDraws& random,
                           std::uint32_t available) const {
    if (!sampler.replacement()) return size == available;
    return sampler.neighbor_size(graph, at, available, random) == kAllNeighbors;
  }

  /// Index in the list of pick `j` of independent draws (with replacement).
  SLUICE_HD std::uint32_t draw_one(const SampleDraws& random, Vertex v, const Row& row, std::uint32_t j,
                                   PickCounters& counters) const {
    ++counters.iterations;
    if (uniform && select == Select::automatic) {
      return static_cast<std::uint32_t>(uniform_index(draw_at(random, Stream::select, j), row.degree));
    }
    if (select == Select::alias) {
      const PhiloxBlock block = random.block(Stream::select, j);
      const auto index = static_cast<std::uint32_t>(uniform_index(block.low(), row.degree));
      return block.high() < tables.thresholds[row.offset + index] ? index : tables.others[row.offset + index];
    }
    if (select == Select::rejection) return reject(random, v, row, j, counters);
    return transform(row, draw_at(random, Stream::select, j));
  }

  /// The first choice of pick `j` of distinct picks (techniques repeated and bipartite, see DistinctPicker).
  SLUICE_HD std::uint32_t first_choice(const SampleDraws& random, const Row& row, std::uint32_t j) const {
    const std::uint64_t word = draw_at(random, Stream::select, j);
    return uniform ? static_cast<std::uint32_t>(uniform_index(word, row.degree)) : transform(row, word);
  }

  /// Writes `count` distinct picks to scratch.picks in the order of drawing; false: see DistinctPicker::pick.
  template <class Group>
  SLUICE_HD bool draw_distinct(const Group& group, const SampleDraws& random, const Row& row,
                               std::uint32_t count, const PickScratch& scratch,
                               PickCounters& counters) const {
    if (!uniform)
      return draw_distinct_by(tables.cumulative + row.offset, group, random, row, count, scratch, counters);
    return DistinctPicker<Group, UniformCandidates, SampleDraws>(
               group, {row.degree}, random, select, taken(row, scratch), scratch.picks, scratch.excluded)
        .pick(count, counters);
  }

  /// As draw_distinct(), with the list's CTPS in `sums`.
  template <class Group>
  SLUICE_HD bool draw_distinct_by(const std::uint64_t* sums, const Group& group, const SampleDraws& random,
                                  const Row& row, std::uint32_t count, const PickScratch& scratch,
                                  PickCounters& counters) const {
    return DistinctPicker<Group, CtpsCandidates, SampleDraws>(group, {sums, row.degree}, random, select,
                                                              taken(row, scratch), scratch.picks,
                                                              scratch.excluded)
        .pick(count, counters);
  }

  /// True if the edge at `index` has positive bias.
  SLUICE_HD bool is_candidate(Vertex v, const Row& row, std::uint32_t index) const {
    if (!tables.positive) return true;
    return bias(v, row, index) > 0;
  }

  /// True if this type of sampler reads nothing of a list but the targets of selected edges.
  static constexpr bool kMayBeCoded = !kDynamic && !kUpdates;
  bool may_be_coded() const { return kMayBeCoded && uniform && !tables.positive; }
  /// Target of the edge at `index` of a list: from a partition's targets or codes, or from the whole graph.
  SLUICE_HD Vertex target_on_page(Vertex v, const Row& row, std::uint32_t index) const {
    if constexpr (kMayBeCoded) {
      if (coded.words) return coded.target(graph.vertices(), v, index);
    }
    return graph.target(row.offset + index);
  }

  /// The vertex that a selected edge adds to the next frontier; kNoVertex: none.
  SLUICE_HD Vertex arrival(const ExpansionOf<Sampler>& at, const Edge& edge) const {
    if constexpr (HasFrontierUpdate<Sampler>) return sampler.update(graph, at, edge);
    return edge.target;
  }

 private:
  SLUICE_HD Taken<std::uint32_t> taken(const Row& row, const PickScratch& scratch) const {
    const std::uint32_t words = (row.degree + 31) / 32;
    const bool exact = words <= scratch.max_words;
    return {collision, scratch.words, exact ? words : scratch.max_words, scratch.picks, exact};
  }

  /// Inverse transform over the list's CTPS.
  SLUICE_HD std::uint32_t transform(const Row& row, std::uint64_t word) const {
    return inverse_transform(tables.cumulative + row.offset, row.degree, word);
  }

  SLUICE_HD std::uint64_t bias(Vertex v, const Row& row, std::uint32_t index) const {
    if constexpr (HasEdgeBias<Sampler>) {
      return sampler.edge_bias(graph, {v, graph.target(row.offset + index), row.offset + index});
    }
    return 1;
  }

  SLUICE_HD std::uint32_t reject(const SampleDraws& random, Vertex v, const Row& row, std::uint32_t j,
                                 PickCounters& counters) const {
    for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
      const PhiloxBlock block = random.block(Stream::trial, j * kTrials + trial);
      const auto index = static_cast<std::uint32_t>(uniform_index(block.low(), row.degree));
      if (uniform_index(block.high(), tables.bounds[v]) < bias(v, row, index)) return index;
      ++counters.iterations;
    }
    std::uint64_t total = 0;  // a list with one heavy edge: inverse transform by a scan, as there is no CTPS
    for (std::uint32_t i = 0; i < row.degree; ++i) total += bias(v, row, i);
    const std::uint64_t x = uniform_index(random.block(Stream::fallback, j).low(), total);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0;; ++i) {
      sum += bias(v, row, i);
      if (sum > x) return i;
    }
  }
};

}  // namespace sluice::samples

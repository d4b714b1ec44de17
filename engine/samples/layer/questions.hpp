// Questions of a layer sample about a list, their answers from the resident list, and the known part of a
// union of lists while most of its lists are not resident.
#pragma once

#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/exec/group.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/samples/layer/candidates.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/select/taken.hpp"

namespace sluice::samples {

/// A candidate's interval [low, low + width) in the prefix sums of the union's biases.
struct LayerRegion {
  std::uint64_t low = 0;  ///< while the candidate is unknown, the point that was drawn
  std::uint64_t width = 1;
  std::uint32_t list = 0;     ///< index of the list's vertex in the frontier
  std::uint32_t index = 0;    ///< index in the list
  Vertex target = kNoVertex;  ///< kNoVertex: the candidate is unknown, as its list was not yet resident

  SLUICE_HD bool operator<(const LayerRegion& other) const { return low < other.low; }
};

/// The union as DistinctPicker sees it. A candidate's index is the start of its region. A point outside the
/// known regions counts as a candidate of its own: a guess, except for biases of 1.
struct LayerRegions {
  using Index = std::uint64_t;

  const LayerRegion* known;  ///< [count] ascending; a region may occur several times
  std::uint32_t count;
  std::uint64_t sum;  ///< sum of all biases

  SLUICE_HD std::uint64_t total() const { return sum; }
  SLUICE_HD std::uint64_t find(std::uint64_t x) const {
    const LayerRegion* const region = containing(x);
    return region ? region->low : x;
  }
  SLUICE_HD std::uint64_t low(std::uint64_t index) const { return index; }
  SLUICE_HD std::uint64_t width(std::uint64_t index) const {
    const LayerRegion* const region = containing(index);
    return region ? region->width : 1;
  }
  /// The known region that contains a point, or null if none does.
  SLUICE_HD const LayerRegion* containing(std::uint64_t x) const {
    const std::uint32_t begun = count_while(count, [&](std::uint32_t i) { return known[i].low <= x; });
    if (begun == 0 || x - known[begun - 1].low >= known[begun - 1].width) return nullptr;
    return known + begun - 1;
  }
};

/// The answers for which an instance waits.
enum class LayerPhase : std::uint32_t {
  sums,     ///< the sums of its lists' biases
  points,   ///< the candidates at its points
  targets,  ///< as points, when no guess can fail
  all,      ///< every candidate of its lists
  ended,
};

/// A question about one list. It is self-contained, so that any rank can answer it.
struct LayerQuestion {
  std::uint64_t point = 0;    ///< relative to the list's first point
  Vertex vertex = kNoVertex;  ///< vertex of the list
  std::uint32_t list = 0;     ///< index of the vertex in the frontier
  std::int32_t exponent = 0;  ///< weight bias: exponent of the frontier's largest weight
  LayerPhase phase = LayerPhase::sums;

  SLUICE_HD bool wants_point() const { return phase == LayerPhase::points || phase == LayerPhase::targets; }
};
static_assert(sizeof(LayerQuestion) == 24);  // sent as bytes: no uninitialized padding

/// The lists of a graph as all layer samplers read them.
struct LayerLists {
  GraphView graph;
  LayerBias bias = LayerBias::uniform;
  const std::uint64_t* cumulative = nullptr;  ///< tabled bias: CTPS of every list
  const std::uint32_t* positive = nullptr;    ///< number of edges of positive bias; null: all

  static constexpr std::uint32_t kAnyLength = ~std::uint32_t{0};

  /// Number of candidates in a vertex's list.
  SLUICE_HD std::uint32_t candidates(Vertex v) const { return positive ? positive[v] : graph.degree(v); }

  template <class Group>
  SLUICE_HD std::uint64_t list_sum(const Group& group, const LayerCandidates& candidates,
                                   const Row& row) const {
    if (bias == LayerBias::uniform || row.degree == 0) return row.degree;
    if (bias == LayerBias::tabled) return candidates.ctps(row).total();
    std::uint64_t lane_sum = 0;
    for (std::uint32_t i = group.rank(); i < row.degree; i += Group::kSize)
      lane_sum += candidates.weight_at(row, i);
    return group.sum(lane_sum);
  }

  /// True if the answer requires a scan of a list of more than `longest` edges.
  SLUICE_HD bool is_long(const LayerQuestion& question, std::uint32_t longest) const {
    const bool scans = bias == LayerBias::weight || question.phase == LayerPhase::all;
    return scans && graph.degree(question.vertex) > longest;
  }

  /// The answer to a question about a sum or a point, in all lanes: a region as wide as the sum, or the
  /// region of the candidate, with `low` relative to the list's first point.
  template <class Group>
  SLUICE_HD LayerRegion answer(const Group& group, const LayerQuestion& question, const PageItems& page_items,
                               PickCounters& counters) const {
    const Row row = graph.row(question.vertex);
    const LayerCandidates candidates = candidates_in(question, page_items);
    page_items.count_read(group, read_bytes(question.phase, row), counters);
    if (question.phase == LayerPhase::sums)
      return {0, list_sum(group, candidates, row), question.list, 0, kNoVertex};
    LayerRegion found{question.point, 1, question.list, 0, kNoVertex};
    if (bias == LayerBias::uniform) {
      found.index = static_cast<std::uint32_t>(question.point);
    } else if (bias == LayerBias::tabled) {
      const CtpsCandidates ctps = candidates.ctps(row);
      found.index = ctps.find(question.point);
      found.low = ctps.low(found.index), found.width = ctps.width(found.index);
    } else {
      scan_to(group, candidates, row, question.point, found);
    }
    found.target = candidates.graph.target(row.offset + found.index);
    return found;
  }

  /// Writes all candidates of a list to `regions`, in order.
  template <class Group>
  SLUICE_HD void answer_all(const Group& group, const LayerQuestion& question, const PageItems& page_items,
                            LayerRegion* regions, PickCounters& counters) const {
    const Row row = graph.row(question.vertex);
    const LayerCandidates candidates = candidates_in(question, page_items);
    page_items.count_read(group, read_bytes(question.phase, row), counters);
    compact_in_order(
        group, row.degree, [&](std::uint32_t i) { return candidates.bias_at(row, i) > 0; },
        [&](std::uint32_t k, std::uint32_t i) {
          regions[k] = {0, 1, question.list, i, candidates.graph.target(row.offset + i)};
        });
  }

 private:
  SLUICE_HD LayerCandidates candidates_in(const LayerQuestion& question, const PageItems& page_items) const {
    return {page_items.with_edges(graph),
            bias,
            page_items.page.cumulative,
            question.exponent,
            nullptr,
            nullptr,
            nullptr,
            0};
  }

  /// Bytes of a list that a phase reads.
  SLUICE_HD std::uint64_t read_bytes(LayerPhase phase, const Row& row) const {
    const bool by_weight = bias == LayerBias::weight, by_table = bias == LayerBias::tabled;
    const std::uint64_t weights = by_weight ? std::uint64_t{row.degree} * kWeightBytes : 0;
    const std::uint64_t sums = by_table ? std::uint64_t{row.degree} * sizeof(std::uint64_t) : 0;
    if (phase == LayerPhase::points || phase == LayerPhase::targets)
      return weights + (by_table ? ctps_bytes(row.degree) : 0) + kTargetBytes;
    if (phase == LayerPhase::all) return weights + sums + std::uint64_t{row.degree} * kTargetBytes;
    return weights + (by_table ? sizeof(std::uint64_t) : 0);
  }

  /// Weight bias: finds the candidate of a list at a point, and its region, by a scan.
  template <class Group>
  SLUICE_HD void scan_to(const Group& group, const LayerCandidates& candidates, const Row& row,
                         std::uint64_t inner, LayerRegion& found) const {
    const auto width = [&](std::uint32_t i) { return candidates.weight_at(row, i); };
    const auto passed = first_sum_above(group, row.degree, inner, width);
    found.index = passed.index();
    found.width = group.broadcast(passed.value, passed.lane);
    found.low = group.broadcast(passed.sum, passed.lane) - found.width;
  }
};

/// Lists that answer questions (see ListQuestions): by one region, or by those of all candidates.
struct AnsweringLayerLists {
  using Question = LayerQuestion;
  using Answer = LayerRegion;
  static constexpr bool kOneAnswer = false;

  LayerLists program;
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  SLUICE_HD std::uint64_t answer_count(const LayerQuestion& question) const {
    return question.phase == LayerPhase::all ? program.candidates(question.vertex) : 1;
  }
  template <class Group>
  SLUICE_HD bool answer(const Group& group, const LayerQuestion& question, const PageItems& page_items,
                        LayerRegion* answers, PickCounters& counters) const {
    if (Group::kSize <= 32 && program.is_long(question, longest)) return false;
    if (question.phase == LayerPhase::all) {
      program.answer_all(group, question, page_items, answers, counters);
      return true;
    }
    const LayerRegion found = program.answer(group, question, page_items, counters);
    if (group.rank() == 0) *answers = found;
    return true;
  }
};

}  // namespace sluice::samples

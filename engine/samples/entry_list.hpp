// The list of one expansion of a sample, for host and device alike. Tables hold only the fixed part of a
// dynamic bias, so its lists are measured, and their CTPS built, when the vertex is expanded.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/core/macros.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/samples/step.hpp"
#include "engine/samples/traversal.hpp"
#include "engine/select/candidates.hpp"

namespace sluice::samples {

/// The result of a scan of a list's biases.
struct ListMeasure {
  std::uint32_t candidates = 0;  ///< edges of positive bias
  bool fits = true;              ///< the biases sum to less than 2^64
};

/// The list of one expansion whose bias is uniform or fixed: candidates and draws come from tables.
template <class Program>
class TabledList {
 public:
  SLUICE_HD TabledList(const Program& program, const Expansion& at, const Row& row)
      : program_(program), vertex_(at.vertex), row_(row) {}

  SLUICE_HD bool is_candidate(std::uint32_t index) const {
    return program_.is_candidate(vertex_, row_, index);
  }
  SLUICE_HD std::uint32_t draw_one(const SampleDraws& random, std::uint32_t j, const std::uint64_t*,
                                   PickCounters& counters) const {
    return program_.draw_one(random, vertex_, row_, j, counters);
  }
  template <class Group>
  SLUICE_HD bool draw_distinct(const Group& group, const SampleDraws& random, std::uint32_t count,
                               const PickScratch& scratch, PickCounters& counters) const {
    return program_.draw_distinct(group, random, row_, count, scratch, counters);
  }

 private:
  const Program& program_;
  Vertex vertex_;
  Row row_;
};

/// The list of one expansion whose bias is dynamic.
template <class Program>
class DynamicList {
 public:
  SLUICE_HD DynamicList(const Program& program, const TracedExpansion& at, const Row& row)
      : program_(program), at_(at), row_(row) {}

  SLUICE_HD bool is_candidate(std::uint32_t index) const { return bias(index) > 0; }

  /// Sums the list's biases, and writes its CTPS to `sums` unless null; all lanes may then read it.
  template <class Group>
  SLUICE_HD ListMeasure measure(const Group& group, std::uint64_t* sums) const {
    Wide below = 0;
    std::uint32_t lane_sum = 0;
    for (std::uint32_t base = 0; base < row_.degree; base += Group::kSize) {
      const std::uint32_t i = base + group.rank();
      const Wide lane_bias = i < row_.degree ? bias(i) : 0;
      lane_sum += lane_bias > 0;
      const Wide sum = below + group.inclusive_scan(lane_bias);
      if (sums && i < row_.degree) sums[i] = static_cast<std::uint64_t>(sum);
      below = group.broadcast(sum, Group::kSize - 1);
    }
    group.sync();
    return {group.sum(lane_sum), below < kLimit};
  }

  /// Index in the list of pick `j` of independent draws; `sums` is its CTPS, which rejection does not read.
  SLUICE_HD std::uint32_t draw_one(const SampleDraws& random, std::uint32_t j, const std::uint64_t* sums,
                                   PickCounters& counters) const {
    if constexpr (HasBound<decltype(Program::sampler)>) {
      if (program_.select == Select::rejection) return reject(random, j, counters);
    }
    ++counters.iterations;
    return inverse_transform(sums, row_.degree, draw_at(random, Stream::select, j));
  }
  /// Writes `count` distinct picks to scratch.picks, by the CTPS in scratch.sums; false: see DistinctPicker.
  template <class Group>
  SLUICE_HD bool draw_distinct(const Group& group, const SampleDraws& random, std::uint32_t count,
                               const PickScratch& scratch, PickCounters& counters) const {
    return program_.draw_distinct_by(scratch.sums, group, random, row_, count, scratch, counters);
  }

 private:
  using Wide = unsigned __int128;
  using Sampler = decltype(Program::sampler);
  static constexpr Wide kLimit = Wide{1} << 64;

  SLUICE_HD Edge edge(std::uint32_t index) const {
    return {at_.vertex, program_.graph.target(row_.offset + index), row_.offset + index};
  }

  /// The edge's bias, at most 2^64, so that no sum over a list exceeds 128 bits.
  SLUICE_HD Wide bias(std::uint32_t index) const {
    Wide bias = program_.sampler.dynamic_bias(program_.graph, at_, edge(index));
    if constexpr (HasEdgeBias<Sampler>) bias *= program_.sampler.edge_bias(program_.graph, edge(index));
    return bias < kLimit ? bias : kLimit;
  }

  /// Proposes an edge by the fixed part of the bias and accepts it with probability dynamic part / bound.
  SLUICE_HD std::uint32_t reject(const SampleDraws& random, std::uint32_t j, PickCounters& counters) const {
    for (std::uint32_t trial = j * Program::kTrials; trial < (j + 1) * Program::kTrials; ++trial) {
      ++counters.iterations;
      const PhiloxBlock block = random.block(Stream::trial, trial);
      auto index = static_cast<std::uint32_t>(uniform_index(block.low(), row_.degree));
      if (program_.tables.thresholds && block.high() >= program_.tables.thresholds[row_.offset + index])
        index = program_.tables.others[row_.offset + index];
      const std::uint64_t x =
          uniform_index(random.block(Stream::accept, trial).low(), program_.sampler.bias_bound());
      if constexpr (HasFloor<Sampler>) {
        if (x < program_.sampler.bias_floor()) return index;
      }
      if (x < program_.sampler.dynamic_bias(program_.graph, at_, edge(index))) return index;
    }
    ++counters.iterations;
    return transform_by_scan(random.block(Stream::fallback, j).low());
  }

  /// Inverse transform by two scans of the list, without a CTPS.
  SLUICE_HD std::uint32_t transform_by_scan(std::uint64_t word) const {
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < row_.degree; ++i) total += static_cast<std::uint64_t>(bias(i));
    const std::uint64_t x = uniform_index(word, total);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0;; ++i) {
      sum += static_cast<std::uint64_t>(bias(i));
      if (sum > x) return i;
    }
  }

  const Program& program_;
  TracedExpansion at_;
  Row row_;
};

template <class Program>
using EntryList = std::conditional_t<Program::kDynamic, DynamicList<Program>, TabledList<Program>>;

}  // namespace sluice::samples

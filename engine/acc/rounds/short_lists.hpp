// Short lists of a GPU that brings its lists in partitions. Most vertices have a few edges, most of the
// rounds that end a run have few other vertices, and what such a round reads in place lies strewn over all of
// host memory, of which a GPU makes 0.05 G reads a second (exec/memory/link.hpp). Together these lists are
// small: in a Kronecker graph those of up to eight edges are 62% of all, and have 4% of the edges. So they
// stay. sssp of Kronecker 24 with a quarter of its bytes on an H200 took 409 ms, and 312 so, with fewer slots
// instead.
#pragma once

#include <cstdint>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/sweep_pages.hpp"

namespace sluice::acc {

/// Copies a row's short list.
struct GatherShort {
  const EdgeIndex *offsets, *short_offsets;
  SweepPage all;
  Vertex* targets;
  float* weights;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    EdgeIndex from = offsets[row];
    for (EdgeIndex to = short_offsets[row]; to < short_offsets[row + 1]; ++to, ++from) {
      targets[to] = all.sources[from];
      if (all.weights != nullptr) weights[to] = all.weights[from];
    }
  }
};

class ShortLists {
 public:
  /// Edges that a short list may have.
  static constexpr std::uint64_t kLongest = 8;

  /// None.
  ShortLists() = default;
  /// Takes memory for those of `lists`, if that is no more than `most` bytes. Throws BudgetError.
  ShortLists(const Device& device, const CsrView& lists, bool weighted, std::uint64_t most);
  /// The same for lists that are brought in partitions, in the place of slots: a quarter of
  /// `memory` at most, and of so many slots as are asked for. None where lists may not be read in place.
  static ShortLists of(const Device& device, const RankPart& rows, const SweepRows& lists,
                       std::uint64_t memory);

  bool any() const { return !targets_.empty(); }
  std::uint64_t bytes() const { return offsets_.bytes() + targets_.bytes() + weights_.bytes(); }

  /// Copies them, from `all`, where list i begins at offsets[i].
  template <Executor E>
  void gather(E& executor, const EdgeIndex* offsets, const SweepPage& all) {
    executor.for_each(rows_, {},
                      GatherShort{offsets, offsets_.data(), all, targets_.data(), weights_.data()});
  }

  /// [rows + 1] where they begin, for kernels; other rows have none.
  const EdgeIndex* offsets() const { return offsets_.data(); }
  SweepPage page() const { return {0, 0, rows_, targets_.data(), weights_.data()}; }

 private:
  std::uint64_t rows_ = 0;
  Buffer<EdgeIndex> offsets_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
};

}  // namespace sluice::acc

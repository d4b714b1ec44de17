// Short lists that stay on a GPU which brings its lists in partitions. Most vertices have few edges, and most
// late rounds of a run have few other vertices. Such a round reads lists in place all over host memory, where
// a GPU makes only 0.05 G reads a second (exec/memory/link.hpp). Together, short lists are small: in a
// Kronecker graph 62% of the lists have at most eight edges, and these have 4% of all edges. So they stay, at
// the cost of some slots. sssp of Kronecker 24 with a quarter of its bytes on an H200 took 409 ms, and 312 ms
// with short lists.
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
    EdgeIndex source = offsets[row];
    for (EdgeIndex target = short_offsets[row]; target < short_offsets[row + 1]; ++target, ++source) {
      targets[target] = all.sources[source];
      if (all.weights != nullptr) weights[target] = all.weights[source];
    }
  }
};

class ShortLists {
 public:
  /// The most edges of a short list.
  static constexpr std::uint64_t kMaxEdges = 8;

  /// No short lists.
  ShortLists() = default;
  /// Allocates memory for the short lists of `lists`, if at most `max_bytes` bytes. Throws BudgetError.
  ShortLists(const Device& device, const CsrView& lists, bool weighted, std::uint64_t max_bytes);
  /// Short lists for lists that are brought in partitions. They replace slots: at most a quarter of `memory`,
  /// and of the slots that the user asked for. None if lists may not be read in place.
  static ShortLists make(const Device& device, const RankPart& part, const SweepRows& lists,
                         std::uint64_t memory);

  bool any() const { return !targets_.empty(); }
  std::uint64_t bytes() const { return offsets_.bytes() + targets_.bytes() + weights_.bytes(); }

  /// Copies short lists from `all`, in which list i begins at offsets[i].
  template <Executor E>
  void gather(E& executor, const EdgeIndex* offsets, const SweepPage& all) {
    executor.for_each(rows_, {},
                      GatherShort{offsets, offsets_.data(), all, targets_.data(), weights_.data()});
  }

  /// [rows + 1] offsets of short lists, for kernels; rows with longer lists are empty.
  const EdgeIndex* offsets() const { return offsets_.data(); }
  SweepPage page() const { return {0, 0, rows_, targets_.data(), weights_.data()}; }

 private:
  std::uint64_t rows_ = 0;
  Buffer<EdgeIndex> offsets_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
};

}  // namespace sluice::acc

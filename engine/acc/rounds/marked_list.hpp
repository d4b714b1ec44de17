// Lists marked own vertices, ascending and without atomics (SIMD-X's ballot filter): marks are counted by
// word, a prefix sum places each word, and its vertices are written there. (Persistent kernels make three
// lists by degree, with counts in registers: ballots.cuh. A launch takes as long as some of their rounds, and
// they have no memory for a count of each word.)
//
// Measured in partitions of Kronecker 22 on an H200 (docs/papers.md): a search takes 23.5 ms by ballots alone
// and 24.4 by lanes that list, k-core 107 and 76. So lanes list few vertices, and ballots find many.
#pragma once

#include <cstdint>

#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// Do lanes only mark vertices that a push activates, for a ballot? With jit, if many own vertices push.
/// (Vertices activated by pulls, next levels and other ranks are balloted only with filter `ballot`.)
inline bool should_ballot(AccFilter filter, std::uint64_t active, std::uint64_t own_vertices) {
  constexpr std::uint64_t kBallotFraction = 8;
  return filter == AccFilter::ballot || (filter == AccFilter::jit && active > own_vertices / kBallotFraction);
}

/// The marked own vertices of the i-th word with own vertices.
template <class View>
struct OwnMarks {
  View view;

  SLUICE_HD std::uint64_t word(std::uint64_t i) const { return view.first / kBitsOfWord + i; }
  SLUICE_HD std::uint32_t operator[](std::uint64_t i) const {
    return view.marks[word(i)] & range_mask(word(i), view.first, view.last);
  }
};

template <class View>
struct CountMarked {
  OwnMarks<View> marks;
  std::uint64_t* counts;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    counts[i] = count_bits(marks[i]);
  }
};

/// Lists marked vertices and sums their edges, except where lanes pull into bits: the pull has counted them.
template <class View>
struct ListMarked {
  OwnMarks<View> marks;
  const std::uint64_t* positions;  ///< [words + 1] place of each word's first vertex on the list
  std::uint64_t words;
  LaneOutput output;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const View& view = marks.view;
    Vertex* next = output.lists + view.first + positions[i];
    for (std::uint32_t bits = marks[i]; bits != 0; bits &= bits - 1) {
      const auto v = static_cast<Vertex>(marks.word(i) * kBitsOfWord + lowest_bit(bits));
      *next++ = v;
      if constexpr (VoteProgram<typename View::Program> && !Lane::kPullsIntoBits) lane.add(1, view.degree(v));
    }
    if (i == 0) output.sizes[view.own_rank] = positions[words];
  }
};

template <Executor E>
class MarkedList {
 public:
  /// For vertices whose marks are in `words` words; allocates nothing unless `enabled`. Keeps a reference to
  /// the executor.
  MarkedList(const Device& device, E& executor, std::uint64_t words, bool enabled)
      : executor_(executor), words_(words), positions_(device, enabled ? words + 1 : 0, "worklists") {
    if (!enabled) return;
    executor_.fill(positions_.data(), 0, positions_.bytes());
    executor_.exclusive_sum(positions_.data(), words_);  // allocates before lists take the remaining memory
  }

  /// Writes the marked vertices of `view` to the own list of `output`, which must be empty; for a vote it
  /// adds their edges to sums[1].
  template <class View>
  void list(const View& view, const LaneOutput& output) {
    const OwnMarks<View> marks{view};
    executor_.for_each(words_, output, CountMarked<View>{marks, positions_.data()});
    executor_.exclusive_sum(positions_.data(), words_);
    executor_.for_each(words_, output, ListMarked<View>{marks, positions_.data(), words_, output});
  }

 private:
  E& executor_;
  std::uint64_t words_;
  Buffer<std::uint64_t> positions_;
};

}  // namespace sluice::acc

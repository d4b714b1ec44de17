// The list of the own vertices that are marked, in their order and without atomics (SIMD-X's ballot filter):
// each word of marks is counted, the counts are added up, and the vertices are written behind those before.
// (Kernels that stay resident make three lists by degree so, with counts in registers: ballots.cuh. A launch
// takes as long as some of their rounds, and they have no memory of a count for each word.)
//
// Measured in partitions of Kronecker 22 on an H200 (docs/papers.md): a search takes 23.5 ms by ballots alone
// and 24.4 by lanes that list, k-core 107 and 76. So few vertices are listed, and many are marked.
#pragma once

#include <cstdint>

#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// Do lanes mark what a push makes active, for a ballot? With jit where many of the own vertices push. (What
/// pulls, next levels and other ranks find is a ballot with that filter alone.)
inline bool wants_ballot(AccFilter filter, std::uint64_t active, std::uint64_t own) {
  constexpr std::uint64_t kFewOfVertices = 8;
  return filter == AccFilter::ballot || (filter == AccFilter::jit && active > own / kFewOfVertices);
}

/// The own vertices that are marked, of the i-th word that has own ones.
template <class View>
struct OwnMarks {
  View view;

  SLUICE_HD std::uint64_t word(std::uint64_t i) const { return view.first / kBitsOfWord + i; }
  SLUICE_HD std::uint32_t operator[](std::uint64_t i) const {
    return view.marks[word(i)] & bits_within(word(i), view.first, view.last);
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

/// Where lanes pull into bits, the edges of what they found were counted then.
template <class View>
struct ListMarked {
  OwnMarks<View> marks;
  const std::uint64_t* places;  ///< [words + 1] of each word's first vertex on the list
  std::uint64_t words;
  LaneOutput output;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const View& view = marks.view;
    Vertex* next = output.lists + view.first + places[i];
    for (std::uint32_t left = marks[i]; left != 0; left &= left - 1) {
      const auto v = static_cast<Vertex>(marks.word(i) * kBitsOfWord + lowest_bit(left));
      *next++ = v;
      if constexpr (VoteProgram<typename View::Program> && !Lane::kPullsIntoBits) lane.add(1, view.degree(v));
    }
    if (i == 0) output.sizes[view.own] = places[words];
  }
};

template <Executor E>
class MarkedList {
 public:
  /// Of vertices whose marks are in so many words; none where it is not asked for. Keeps a reference.
  MarkedList(const Device& device, E& executor, std::uint64_t words, bool asked)
      : executor_(executor), words_(words), places_(device, asked ? words + 1 : 0, "worklists") {
    if (!asked) return;
    executor_.fill(places_.data(), 0, places_.bytes());
    executor_.exclusive_sum(places_.data(), words_);  // takes its memory before lists take what is left
  }

  /// Makes the marked vertices of `view` the own list of `output`, which was empty, and of a vote adds their
  /// edges to sums[1].
  template <class View>
  void list(const View& view, const LaneOutput& output) {
    const OwnMarks<View> marks{view};
    executor_.for_each(words_, output, CountMarked<View>{marks, places_.data()});
    executor_.exclusive_sum(places_.data(), words_);
    executor_.for_each(words_, output, ListMarked<View>{marks, places_.data(), words_, output});
  }

 private:
  E& executor_;
  std::uint64_t words_;
  Buffer<std::uint64_t> places_;
};

}  // namespace sluice::acc

// Layer samples over ranks that each own a range of partitions: an instance stays on its origin rank and asks
// the owners of the lists for which it waits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/samples/layer/partitioned_step.hpp"

namespace sluice::samples {

/// Device memory of the questions between ranks, for one instance of each rank. A rank receives about as many
/// questions as it sends.
inline std::uint64_t layer_rank_bytes(const LayerSizes& sizes) {
  constexpr std::uint64_t kQuestion = sizeof(LayerQuestion) + sizeof(std::uint64_t),
                          kAsked = sizeof(std::uint32_t) + kQuestion + sizeof(LayerRegion);
  return std::max(sizes.frontier, sizes.layer) * (kAsked + kQuestion + sizeof(LayerRegion));
}

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

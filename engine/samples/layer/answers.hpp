// How the answers to questions about the lists of layer samples lie: who asks and who answers both work it
// out, each on its device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/samples/layer/questions.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// Questions and where their answers lie, as kernels see them.
struct LayerAnswersView {
  const LayerQuestion* asked;
  const std::uint64_t* rank_begins;  ///< [ranks + 1] questions
  std::uint64_t* places;             ///< [questions + 1] regions before a question's
};

/// How many regions a question is answered by.
struct MeasureAnswer {
  LayerLists program;
  LayerAnswersView view;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    if (group.rank() != 0) return true;
    const LayerQuestion& asked = view.asked[q];
    view.places[q] = asked.phase == LayerPhase::all ? program.candidates(asked.vertex) : 1;
    return true;
  }
};

/// What lies before each rank's answers.
struct MarkRanks {
  LayerAnswersView view;
  std::uint64_t* marks;  ///< [ranks + 1] regions

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t rank, PickCounters&) const {
    if (group.rank() != 0) return true;
    marks[rank] = view.places[view.rank_begins[rank]];
    return true;
  }
};

template <Executor E>
class LayerAnswers {
 public:
  LayerAnswers(const Device& device, const LayerLists& program, PagedItems<E>& items)
      : device_(device), program_(program), items_(items) {}

  /// `counts[r]` of the questions, which are in order of rank, are those of rank r, or for it. Throws
  /// BudgetError.
  void lay_out(const LayerQuestion* asked, std::span<const std::uint64_t> counts) {
    const std::uint64_t ranks = counts.size();
    std::vector<std::uint64_t> begins{0};
    for (const std::uint64_t count : counts) begins.push_back(begins.back() + count);
    const std::uint64_t questions = begins.back();
    rank_begins_.reserve(device_, ranks + 1, kPurpose);
    copy_to_device(device_, rank_begins_.data(), begins.data(), (ranks + 1) * sizeof(std::uint64_t));
    places_.reserve(device_, questions + 1, kPurpose);
    view_ = {asked, rank_begins_.data(), places_.data()};
    items_.each(questions, MeasureAnswer{program_, view_});
    items_.executor().exclusive_sum(places_.data(), questions);
    measure(ranks);
  }

  const LayerAnswersView& view() const { return view_; }
  /// Of rank r, or for it.
  const std::vector<std::uint64_t>& regions_of_ranks() const { return regions_; }
  /// Of all ranks.
  std::uint64_t regions() const { return sum_; }

  std::uint64_t bytes() const { return rank_begins_.bytes() + places_.bytes() + marks_.bytes(); }

 private:
  static constexpr const char* kPurpose = "questions of ranks";

  void measure(std::uint64_t ranks) {
    std::vector<std::uint64_t> marks(ranks + 1);
    marks_.reserve(device_, marks.size(), kPurpose);
    items_.each(ranks + 1, MarkRanks{view_, marks_.data()});
    copy_to_host(device_, marks.data(), marks_.data(), marks.size() * sizeof(std::uint64_t));
    regions_.clear();
    for (std::uint64_t rank = 0; rank < ranks; ++rank) regions_.push_back(marks[rank + 1] - marks[rank]);
    sum_ = marks[ranks];
  }

  const Device& device_;
  const LayerLists& program_;
  PagedItems<E>& items_;
  LayerAnswersView view_{};
  Buffer<std::uint64_t> rank_begins_, places_, marks_;
  std::vector<std::uint64_t> regions_;  ///< by rank
  std::uint64_t sum_ = 0;
};

}  // namespace sluice

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

/// The questions for keys that one instance asks one rank. Their answer is in common: the smallest keys of
/// all their lists.
struct LayerKeyGroup {
  std::uint64_t begin, end;  ///< questions
  std::uint64_t count;       ///< keys to keep
  std::uint64_t candidates;  ///< of all lists
  std::uint64_t length;      ///< keys so far

  SLUICE_HD std::uint64_t answers() const { return count < candidates ? count : candidates; }
};

/// Questions and where their answers lie, as kernels see them.
struct LayerAnswersView {
  const LayerQuestion* asked;
  const std::uint64_t* rank_begins;  ///< [ranks + 1] questions
  std::uint64_t* places;             ///< [questions + 1] regions before a question's
  std::uint64_t* groups_before;      ///< [questions + 1] groups of keys that begin before a question
  LayerKeyGroup* groups;
  std::uint64_t* keys_before;  ///< [groups + 1] keys before a group's

  SLUICE_HD bool wants_keys(std::uint64_t q) const { return asked[q].phase == LayerPhase::keys; }
  SLUICE_HD bool begins_group(std::uint64_t q) const { return groups_before[q + 1] > groups_before[q]; }
  /// Of a question for keys.
  SLUICE_HD LayerKeyGroup& group_of(std::uint64_t q) const { return groups[groups_before[q + 1] - 1]; }
};

/// How many regions a question is answered by, and whether it begins a group.
struct MeasureAnswer {
  LayerListProgram program;
  LayerAnswersView view;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    if (group.rank() != 0) return true;
    const LayerQuestion& asked = view.asked[q];
    const bool keys = view.wants_keys(q);
    view.places[q] = keys ? 0 : asked.phase == LayerPhase::all ? program.candidates(asked.vertex) : 1;
    if (!view.groups_before) return true;
    const bool goes_on = q > 0 && view.wants_keys(q - 1) && view.asked[q - 1].instance == asked.instance;
    view.groups_before[q] = keys && !goes_on;
    return true;
  }
};

/// No group holds questions of two ranks.
struct PartRanks {
  LayerAnswersView view;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t rank, PickCounters&) const {
    const std::uint64_t begin = view.rank_begins[rank];
    const bool asks = begin < view.rank_begins[rank + 1] && view.wants_keys(begin);
    if (asks && group.rank() == 0) view.groups_before[begin] = 1;
    return true;
  }
};

/// The first question of each group fills the group in.
struct JoinQuestions {
  LayerListProgram program;
  LayerAnswersView view;
  std::uint64_t count;  ///< questions

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    if (!view.begins_group(q)) return true;
    const std::uint64_t number = view.groups_before[q];
    LayerKeyGroup found{q, q, view.asked[q].count, 0, 0};
    for (bool all = true; all;) {
      const std::uint64_t i = found.end + group.rank();
      const bool joins = i < count && view.wants_keys(i) && view.groups_before[i + 1] == number + 1;
      found.candidates += group.sum(joins ? std::uint64_t{program.candidates(view.asked[i].vertex)} : 0);
      found.end += group.sum(joins ? 1u : 0u);
      all = group.ballot(!joins) == 0;
    }
    if (group.rank() == 0) view.groups[number] = found, view.keys_before[number] = found.answers();
    return true;
  }
};

/// What lies before each rank's answers.
struct MarkRanks {
  LayerAnswersView view;
  std::uint64_t* marks;  ///< [3 * (ranks + 1)] regions, groups, keys

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t rank, PickCounters&) const {
    if (group.rank() != 0) return true;
    const std::uint64_t begin = view.rank_begins[rank];
    const std::uint64_t groups = view.groups_before ? view.groups_before[begin] : 0;
    marks[3 * rank] = view.places[begin];
    marks[3 * rank + 1] = groups;
    marks[3 * rank + 2] = view.groups_before ? view.keys_before[groups] : 0;
    return true;
  }
};

/// `Items` is either backend's PagedItems.
template <class Items>
class LayerAnswers {
 public:
  LayerAnswers(const Device& device, const LayerListProgram& program, Items& items)
      : device_(device), program_(program), items_(items) {}

  /// `counts[r]` of the questions, which are in order of rank, are those of rank r, or for it. Throws
  /// BudgetError.
  void lay_out(const LayerQuestion* asked, std::span<const std::uint64_t> counts) {
    const std::uint64_t ranks = counts.size();
    std::vector<std::uint64_t> begins{0};
    for (const std::uint64_t count : counts) begins.push_back(begins.back() + count);
    const std::uint64_t questions = begins.back();
    const bool by_keys = program_.select == Select::keys;
    rank_begins_.reserve(device_, ranks + 1, kPurpose);
    copy_to_device(device_, rank_begins_.data(), begins.data(), (ranks + 1) * sizeof(std::uint64_t));
    places_.reserve(device_, questions + 1, kPurpose);
    if (by_keys) groups_before_.reserve(device_, questions + 1, kPurpose);
    view_ = {asked, rank_begins_.data(), places_.data(), groups_before_.data(), nullptr, nullptr};
    items_.each(questions, MeasureAnswer{program_, view_});
    items_.sum_up(places_.data(), questions);
    if (by_keys) group_keys(questions, ranks);
    measure(ranks);
  }

  const LayerAnswersView& view() const { return view_; }
  // Of rank r, or for it.
  const std::vector<std::uint64_t>& regions_of_ranks() const { return regions_; }
  const std::vector<std::uint64_t>& groups_of_ranks() const { return groups_; }
  const std::vector<std::uint64_t>& keys_of_ranks() const { return keys_; }
  // Of all ranks.
  std::uint64_t regions() const { return sums_[0]; }
  std::uint64_t groups() const { return sums_[1]; }
  std::uint64_t keys() const { return sums_[2]; }

  std::uint64_t bytes() const {
    return rank_begins_.bytes() + places_.bytes() + groups_before_.bytes() + groups_by_number_.bytes() +
           keys_before_.bytes() + marks_.bytes();
  }

 private:
  static constexpr const char* kPurpose = "questions of ranks";

  void group_keys(std::uint64_t questions, std::uint64_t ranks) {
    items_.each(ranks, PartRanks{view_});
    const std::uint64_t groups = items_.sum_up(groups_before_.data(), questions);
    groups_by_number_.reserve(device_, groups, kPurpose);
    keys_before_.reserve(device_, groups + 1, kPurpose);
    view_.groups = groups_by_number_.data(), view_.keys_before = keys_before_.data();
    items_.each(questions, JoinQuestions{program_, view_, questions});
    items_.sum_up(keys_before_.data(), groups);
  }

  void measure(std::uint64_t ranks) {
    std::vector<std::uint64_t> marks(3 * (ranks + 1));
    marks_.reserve(device_, marks.size(), kPurpose);
    items_.each(ranks + 1, MarkRanks{view_, marks_.data()});
    copy_to_host(device_, marks.data(), marks_.data(), marks.size() * sizeof(std::uint64_t));
    std::vector<std::uint64_t>* const columns[] = {&regions_, &groups_, &keys_};
    for (std::size_t column = 0; column < 3; ++column) {
      columns[column]->clear();
      for (std::uint64_t rank = 0; rank < ranks; ++rank)
        columns[column]->push_back(marks[3 * (rank + 1) + column] - marks[3 * rank + column]);
      sums_[column] = marks[3 * ranks + column];
    }
  }

  const Device& device_;
  const LayerListProgram& program_;
  Items& items_;
  LayerAnswersView view_{};
  Buffer<std::uint64_t> rank_begins_, places_, groups_before_;
  Buffer<LayerKeyGroup> groups_by_number_;
  Buffer<std::uint64_t> keys_before_, marks_;
  std::vector<std::uint64_t> regions_, groups_, keys_;  ///< by rank
  std::uint64_t sums_[3] = {};
};

}  // namespace sluice

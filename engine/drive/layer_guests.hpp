// Questions that ranks ask about the lists of layer samples, answered by the rank that owns the lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/drive/layer_questions.hpp"
#include "engine/drive/paged_items.hpp"

namespace sluice::host {

/// The questions for keys that one instance asks one rank. Their answer is in common: the smallest keys of
/// all their lists.
struct LayerKeyGroup {
  std::uint64_t begin, end;      ///< questions
  std::uint64_t count;           ///< keys to keep
  std::uint64_t candidates = 0;  ///< of all lists
  std::uint64_t room = 0;        ///< where the keys are
  std::uint64_t length = 0;      ///< keys so far

  std::uint64_t answers() const { return std::min(count, candidates); }
};

/// How the answers to questions lie: both sides work it out.
struct LayerAnswers {
  Buffer<std::uint64_t> places;  ///< of a question: its first region; or which group it belongs to
  std::vector<std::uint64_t> regions, keys;   ///< by rank: how many
  std::vector<std::uint64_t> groups_of_rank;  ///< by rank: how many groups
  ChargedVector<LayerKeyGroup> groups;

  /// `counts[r]` of the questions are those of rank r, or for it.
  void lay_out(const Device& device, const LayerListProgram& program, std::span<const LayerQuestion> asked,
               std::span<const std::uint64_t> counts) {
    places.reserve(device, asked.size(), "questions of ranks");
    for (auto* const column : {&regions, &keys, &groups_of_rank}) column->assign(counts.size(), 0);
    groups.clear();
    std::uint64_t place = 0, q = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      const std::uint64_t end = q + counts[rank], before = place, groups_before = groups.size();
      while (q < end) {
        if (asked[q].phase == LayerPhase::keys) {
          q = add_group(program, asked.first(end), q);
          keys[rank] += groups.back().answers();
          continue;
        }
        places.data()[q] = place;
        place += asked[q].phase == LayerPhase::all ? program.candidates(asked[q].vertex) : 1;
        ++q;
      }
      regions[rank] = place - before;
      groups_of_rank[rank] = groups.size() - groups_before;
    }
  }

 private:
  /// Returns the first question behind the group.
  std::uint64_t add_group(const LayerListProgram& program, std::span<const LayerQuestion> asked,
                          std::uint64_t q) {
    LayerKeyGroup group{q, q, asked[q].count};
    for (; q < asked.size() && asked[q].phase == LayerPhase::keys &&
           asked[q].instance == asked[group.begin].instance;
         ++q) {
      group.candidates += program.candidates(asked[q].vertex);
      places.data()[q] = groups.size();
    }
    group.end = q;
    groups.push_back(group);
    return q;
  }
};

class LayerGuests {
 public:
  LayerGuests(const Device& device, const LayerListProgram& program, PagedItems& items)
      : device_(device), program_(program), items_(items) {}

  /// Answers questions, `counts[r]` of them of rank r, all about lists of this rank. Throws BudgetError.
  void answer(std::span<const LayerQuestion> asked, std::span<const std::uint64_t> counts) {
    layout_.lay_out(device_, program_, asked, counts);
    regions_.reserve(device_, sum_of(layout_.regions), kPurpose);
    std::uint64_t room = 0;
    for (LayerKeyGroup& group : layout_.groups) {
      group.room = room;
      room += std::min(2 * group.count, group.candidates);  // more never come together
    }
    keyed_.reserve(device_, room, kPurpose);
    items_.visit(asked.size(), Waits{asked.data()},
                 Work{program_, asked.data(), layout_.places.data(), layout_.groups.data(), regions_.data(),
                      keyed_.data()});
    pack_keys();
  }

  // In order of the questions.
  std::span<const LayerRegion> regions() const { return {regions_.data(), sum_of(layout_.regions)}; }
  std::span<const KeyedCandidate> keys() const { return {keyed_.data(), sum_of(layout_.keys)}; }
  // How many go to each rank.
  std::span<const std::uint64_t> region_counts() const { return layout_.regions; }
  std::span<const std::uint64_t> key_counts() const { return layout_.keys; }

  std::uint64_t bytes() const { return layout_.places.bytes() + regions_.bytes() + keyed_.bytes(); }

 private:
  static constexpr const char* kPurpose = "questions of other ranks";

  struct Waits {
    const LayerQuestion* asked;

    Vertex operator()(std::uint64_t q) const { return asked[q].vertex; }
  };

  struct Work {
    const LayerListProgram& program;
    const LayerQuestion* asked;
    const std::uint64_t* places;
    LayerKeyGroup* groups;
    LayerRegion* regions;
    KeyedCandidate* keyed;

    template <class Group>
    void operator()(const Group& lanes, const PageItems& here, std::uint64_t k,
                    PickCounters& counters) const {
      const std::uint64_t q = here.order[k];
      if (asked[q].phase == LayerPhase::keys) return offer(lanes, here, k, counters);
      LayerRegion* const to = regions + places[q];
      if (asked[q].phase == LayerPhase::all) return program.answer_all(lanes, asked[q], here, to, counters);
      *to = program.answer(lanes, asked[q], here, counters);
    }

    /// Keys of all lists of a group that are here, which share its room.
    template <class Group>
    void offer(const Group& lanes, const PageItems& here, std::uint64_t k, PickCounters& counters) const {
      LayerKeyGroup& group = groups[places[here.order[k]]];
      if (k > 0 && here.order[k - 1] >= group.begin) return;
      SmallestKeys smallest{keyed + group.room, group.count, group.length};
      for (; k < here.count && here.order[k] < group.end; ++k)
        program.offer_keys(lanes, asked[here.order[k]], here, smallest, counters);
      group.length = smallest.length;
    }
  };

  static std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }

  /// Keys that go out stand one behind the other.
  void pack_keys() {
    items_.each(layout_.groups.size(), [&](const auto& lanes, std::uint64_t g, PickCounters&) {
      LayerKeyGroup& group = layout_.groups[g];
      SmallestKeys smallest{keyed_.data() + group.room, group.count, group.length};
      smallest.halve(lanes);
      group.length = smallest.length;
    });
    KeyedCandidate* to = keyed_.data();
    for (const LayerKeyGroup& group : layout_.groups) {
      const KeyedCandidate* const from = keyed_.data() + group.room;
      if (from != to) std::copy_n(from, group.length, to);  // to never stands behind from
      to += group.length;
    }
  }

  const Device& device_;
  const LayerListProgram& program_;
  PagedItems& items_;
  LayerAnswers layout_;
  Buffer<LayerRegion> regions_;
  Buffer<KeyedCandidate> keyed_;
};

}  // namespace sluice::host

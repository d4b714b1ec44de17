// Layer samples over ranks that each own a range of partitions: an instance stays at home and asks the owners
// of the lists that it waits for. All questions of a wave travel together, and so do the answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/drive/layer_guests.hpp"
#include "engine/drive/order_by_key.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_layer_wave.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/wire.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

/// What ranks ask each other takes of device memory, for one instance of each of them: about as many
/// questions come as go out, and every rank may keep keys of every instance.
inline std::uint64_t layer_rank_bytes(const LayerSizes& sizes, std::uint64_t ranks) {
  constexpr std::uint64_t kPlace = sizeof(std::uint64_t);
  const std::uint64_t asked = sizeof(std::uint32_t) + sizeof(LayerQuestion) + kPlace,
                      answered = sizeof(std::uint32_t) + sizeof(LayerRegion) + kPlace;
  return std::max(sizes.frontier, sizes.layer) * (asked + answered) +
         ranks * sizes.keyed * sizeof(KeyedCandidate);
}

namespace host {

class LayerRanks {
 public:
  LayerRanks(Communicator& ranks, const Device& device, const LayerListProgram& program, const PageLoop& loop,
             PagedItems& items, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        plan_(loop.plan().partitions),
        program_(program),
        stats_(stats),
        rank_of_(ranks_of_partitions(ranks, plan_.size())),
        counts_(static_cast<std::size_t>(ranks.size())),
        guests_(device, program, items) {}

  /// Asks for all that the wave's instances wait for, and answers what other ranks ask; false: nobody asks.
  /// All ranks call it. Throws BudgetError on all of them, or on none.
  bool visit(const PagedLayerWave& wave, std::uint64_t instances) {
    std::uint64_t asked = 0;
    together(&ranks_, [&] { asked = pack(wave, instances * wave.program.items()); });
    if (!any_left(&ranks_, asked, "samples under way")) return false;
    Wire<LayerQuestion> guests;
    guests.exchange(ranks_, {questions_.data(), asked}, counts_, kQuestions);
    together(&ranks_, [&] {
      guests.charge(kQuestions);
      guests_.answer(guests.values(), guests.counts());
    });
    const auto own = static_cast<std::size_t>(ranks_.rank());
    stats_.entries_sent += asked - counts_[own];
    stats_.entries_received += guests.values().size() - guests.counts()[own];

    const bool by_keys = program_.select == Select::keys;
    Wire<LayerRegion> regions;
    Wire<KeyedCandidate> keys;
    regions.exchange(ranks_, guests_.regions(), guests_.region_counts(), kAnswers);
    if (by_keys) keys.exchange(ranks_, guests_.keys(), guests_.key_counts(), kAnswers);
    together(&ranks_, [&] {
      regions.charge(kAnswers);
      if (by_keys) keys.charge(kAnswers);
      answers_.lay_out(device_, program_, {questions_.data(), asked}, counts_);
      accept(wave, asked, regions.values());
      if (by_keys) accept_keys(wave, keys.values());
    });
    return true;
  }

  std::uint64_t bytes() const {
    return order_.bytes() + questions_.bytes() + answers_.places.bytes() + guests_.bytes();
  }

 private:
  static constexpr const char* kQuestions = "questions of ranks";
  static constexpr const char* kAnswers = "answers of ranks";
  static constexpr std::uint64_t kGrain = 256;

  PagedLayerSlot slot_of(const PagedLayerWave& wave, std::uint64_t q) const {
    return wave.slots.at(order_.data()[q] / wave.program.items());
  }

  /// Questions in order of the rank that owns the list, those of an instance side by side; returns how many.
  std::uint64_t pack(const PagedLayerWave& wave, std::uint64_t items) {
    const OwnerTable owners = plan_.owners();
    const PagedLayerWave::Waits waits{wave};
    const auto rank_of = [&](std::uint64_t item) {
      const Vertex v = waits(item);
      return v == kNoVertex ? kNoKey : rank_of_[owners.owner(v)];
    };
    std::vector<std::uint64_t> places(counts_.size());
    const std::uint64_t asked = order_by_key(device_, items, rank_of, order_, counts_, places);
    questions_.reserve(device_, asked, kQuestions);
    const std::uint64_t each = wave.program.items();
    parallel_blocks(device_.threads(), asked, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      for (std::uint64_t q = from; q < to; ++q) {
        const std::uint64_t item = order_.data()[q];
        questions_.data()[q] = wave.program.question(wave.first + item / each, slot_of(wave, q), item % each);
      }
    });
    return asked;
  }

  void accept(const PagedLayerWave& wave, std::uint64_t asked, std::span<const LayerRegion> regions) const {
    parallel_blocks(device_.threads(), asked, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      for (std::uint64_t q = from; q < to; ++q) {
        const LayerQuestion& question = questions_.data()[q];
        if (question.phase == LayerPhase::keys) continue;
        const std::uint64_t item = order_.data()[q] % wave.program.items();
        const LayerRegion* const came = regions.data() + answers_.places.data()[q];
        if (question.phase == LayerPhase::all) {
          std::copy_n(came, program_.candidates(question.vertex),
                      wave.program.candidates_of(slot_of(wave, q), item));
        } else {
          wave.program.accept(slot_of(wave, q), item, *came);
        }
      }
    });
  }

  /// An instance takes the keys of one rank after the other.
  void accept_keys(const PagedLayerWave& wave, std::span<const KeyedCandidate> keys) {
    std::uint64_t begin = 0, came = 0;
    for (LayerKeyGroup& group : answers_.groups) {
      group.room = came;
      came += group.answers();
    }
    for (const std::uint64_t groups : answers_.groups_of_rank) {
      parallel_blocks(device_.threads(), groups, 1, [&](std::uint64_t from, std::uint64_t to, unsigned) {
        for (std::uint64_t g = begin + from; g < begin + to; ++g) {
          const LayerKeyGroup& group = answers_.groups[g];
          const PagedLayerSlot slot = slot_of(wave, group.begin);
          SmallestKeys smallest{slot.scratch.keyed, slot.state->count, slot.state->keyed};
          for (const KeyedCandidate& key : keys.subspan(group.room, group.answers()))
            smallest.offer(SingleLane{}, true, key);
          slot.state->keyed = smallest.length;
        }
      });
      begin += groups;
    }
  }

  Communicator& ranks_;
  const Device& device_;
  const PartitionPlan& plan_;
  const LayerListProgram& program_;
  RunStats& stats_;
  std::vector<std::uint32_t> rank_of_;  ///< by partition
  Buffer<std::uint32_t> order_;         ///< items that ask, by the rank that is asked
  Buffer<LayerQuestion> questions_;     ///< of these
  std::vector<std::uint64_t> counts_;   ///< of them, by rank
  LayerAnswers answers_;                ///< to them
  LayerGuests guests_;
};

}  // namespace host
}  // namespace sluice

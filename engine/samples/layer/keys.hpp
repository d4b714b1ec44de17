// Layer samples by exponential keys: the candidates with the smallest keys are the sample.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/random/exponential.hpp"
#include "engine/random/streams.hpp"
#include "engine/select/group_set.hpp"

namespace sluice {

/// A candidate and its exponential key.
struct KeyedCandidate {
  unsigned __int128 key;
  std::uint64_t candidate;
  std::uint64_t target;  ///< in partitions: what the edge reaches, since its list is here only now

  SLUICE_HD bool operator<(const KeyedCandidate& other) const {
    return key != other.key ? key < other.key : candidate < other.candidate;
  }

  SLUICE_HD static KeyedCandidate of(const SampleDraws& draws, std::uint64_t candidate, std::uint64_t bias,
                                     std::uint64_t target = kNoVertex) {
    // The candidate's number has more bits than a draw: what is above goes beside the depth.
    const SampleDraws own{draws.seed, draws.slot | (candidate >> kDrawBits) << 8, draws.instance};
    const std::uint64_t word = own.block(Stream::select, static_cast<std::uint32_t>(candidate)).low();
    return {exponential_key(word, bias), candidate, target};
  }
};

/// Keeps the `count` smallest of the keys that it is offered, in any order, in room for twice as many: sorted
/// and halved whenever it is full.
struct SmallestKeys {
  KeyedCandidate* keyed;  ///< [2 * count]
  std::uint64_t count;
  std::uint64_t length = 0;

  /// One key from each active lane.
  template <class Group>
  SLUICE_HD void offer(const Group& group, bool active, const KeyedCandidate& mine) {
    const std::uint32_t rank = group.inclusive_scan(active ? 1u : 0u);
    const std::uint32_t added = group.broadcast(rank, Group::kSize - 1);
    std::uint32_t done = 0;  // a layer smaller than the group fills the room several times over
    while (done < added) {
      const std::uint64_t space = 2 * count - length;
      const std::uint32_t now = added - done < space ? added - done : static_cast<std::uint32_t>(space);
      if (active && rank > done && rank <= done + now) keyed[length + rank - 1 - done] = mine;
      length += now, done += now;
      if (length == 2 * count) halve(group);
    }
  }

  /// Afterwards the smallest come first, in order.
  template <class Group>
  SLUICE_HD void halve(const Group& group) {
    group.sync();
    group_sort(group, keyed, length);
    length = length < count ? length : count;
  }
};

}  // namespace sluice

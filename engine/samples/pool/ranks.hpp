// Pools over ranks that each own a range of partitions: a pool stays on its origin rank and asks the list's
// owner for the one target that it draws.
#pragma once

#include <cstdint>

#include "engine/exchange/communicator.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/pool/step.hpp"

namespace sluice::samples {

/// The target of an edge, which a PoolDraw finds in the list of `vertex`. A draw is in two words: 12 bytes
/// travel.
struct PoolQuestion {
  std::uint32_t low, high;
  Vertex vertex;
};

/// Device memory of a pool under way beside its rows: where its lists come in partitions its state, and the
/// list that it waits for. Where `ranks` share out the graph (null: no), also what they ask each other: at
/// worst all pools of all ranks wait for one of them.
inline std::uint64_t parked_pool_bytes(const Device& device, const Communicator* ranks) {
  if (!ranks) return kParkedPoolBytes;
  constexpr std::uint64_t kQuestion = sizeof(PoolQuestion) + sizeof(Vertex);
  const std::uint64_t asked = kQuestion + sizeof(std::uint32_t),
                      remote = kQuestion + paged_item_bytes(device);
  return kParkedPoolBytes + asked + static_cast<std::uint64_t>(ranks->size()) * remote;
}

/// The pools of a batch, for AskingItems.
struct WaitingPools {
  PoolState* states;
  const Vertex* waits_at;  ///< whose list each needs; kNoVertex: none

  SLUICE_HD Vertex waits(std::uint64_t pool) const { return waits_at[pool]; }
  SLUICE_HD PoolQuestion question(std::uint64_t pool) const {
    const std::uint64_t draw = states[pool].draw;
    return {static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32), waits_at[pool]};
  }
  template <class Group>
  SLUICE_HD void take(const Group&, std::uint64_t pool, const PoolQuestion&, const Vertex* target,
                      std::uint64_t) const {
    states[pool].target = *target;
  }
};

/// The lists that they ask. `kTabled`: are neighbours drawn by the CTPS of their list?
template <bool kTabled>
struct PoolLists {
  using Question = PoolQuestion;
  using Answer = Vertex;
  static constexpr bool kOneAnswer = true;

  GraphView graph;  ///< without edges: lists are read where they are

  template <class Group>
  SLUICE_HD bool answer(const Group& group, const PoolQuestion& asked, const PageItems& present, Vertex* to,
                        PickCounters&) const {
    const std::uint64_t draw = asked.low | std::uint64_t{asked.high} << 32;
    if (group.rank() == 0) *to = PoolDraw<kTabled>::target(present.page, graph.row(asked.vertex), draw);
    return true;
  }
};

}  // namespace sluice::samples

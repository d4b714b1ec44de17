// Pools over ranks that each own a range of partitions: a pool stays on its origin rank and asks the list's
// owner for the targets that it draws.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/exchange/communicator.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/pool/batch.hpp"

namespace sluice::samples {

/// Asks for the target of a PoolDraw in the list of `vertex`. The draw is stored as two words, so that the
/// question has 12 bytes.
struct PoolQuestion {
  std::uint32_t low, high;
  Vertex vertex;
};

/// Asks for the targets of all neighbours that an entry selects, by the keys of its random words.
struct PoolBranchQuestion {
  std::uint32_t low, high;  ///< words of the instance number
  std::uint32_t step, entry;
  Vertex vertex;
};

template <PoolSampler Sampler>
using PoolQuestionOf = std::conditional_t<PoolProgram<Sampler>::kBranches, PoolBranchQuestion, PoolQuestion>;

/// Device memory of a pool in partitions, besides its rows: its state, and the vertex whose list it waits
/// for. If `ranks` shard the graph (null: they do not), also the questions between them: in the worst case
/// the pools of all ranks ask one rank.
template <PoolSampler Sampler>
std::uint64_t parked_pool_bytes(const Device& device, const Communicator* ranks,
                                const PoolProgram<Sampler>& program) {
  if (!ranks) return kParkedPoolBytes;
  const std::uint64_t places = PoolProgram<Sampler>::kBranches ? sizeof(std::uint64_t) : 0,
                      question =
                          sizeof(PoolQuestionOf<Sampler>) + places + program.neighbor_size() * sizeof(Vertex),
                      asked = question + sizeof(std::uint32_t), remote = question + paged_item_bytes(device);
  return kParkedPoolBytes + asked + static_cast<std::uint64_t>(ranks->size()) * remote;
}

/// The pools of a batch, as AskingItems::batch.
template <PoolSampler Sampler>
struct WaitingPools {
  static constexpr bool kBranches = PoolProgram<Sampler>::kBranches;

  PoolRows rows;
  PoolState* states;
  const Vertex* waits_at;  ///< vertex whose list each pool needs; kNoVertex: none
  Instance first;          ///< first instance of the batch

  SLUICE_HD Vertex waits(std::uint64_t pool) const { return waits_at[pool]; }
  SLUICE_HD PoolQuestionOf<Sampler> question(std::uint64_t pool) const {
    const PoolState& state = states[pool];
    const std::uint64_t key = kBranches ? first + pool : state.draw;
    const auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
    if constexpr (kBranches) {
      return {low, high, state.step, state.followed, waits_at[pool]};
    } else {
      return {low, high, waits_at[pool]};
    }
  }
  template <class Group>
  SLUICE_HD void take(const Group& group, std::uint64_t pool, const PoolQuestionOf<Sampler>&,
                      const Vertex* targets, std::uint64_t count) const {
    if constexpr (kBranches) {
      Vertex* const to = rows.at(pool).targets;
      for (std::uint64_t j = group.rank(); j < count; j += Group::kSize) to[j] = targets[j];
      if (group.rank() == 0) states[pool].answered = true;
    } else {
      states[pool].target = *targets;
    }
  }
};

/// The lists about which pools ask (see ListQuestions).
template <PoolSampler Sampler>
struct PoolLists {
  using Program = PoolProgram<Sampler>;
  using Question = PoolQuestionOf<Sampler>;
  using Answer = Vertex;
  using Draw = PoolDraw<Program::kTabled>;
  static constexpr bool kOneAnswer = !Program::kBranches;

  Program program;  ///< its graph has no edges: lists are read from partitions

  SLUICE_HD std::uint64_t answers(const Question& asked) const {
    return program.neighbors_of(asked.vertex, program.graph.row(asked.vertex));
  }
  template <class Group>
  SLUICE_HD bool answer(const Group& group, const Question& asked, const PageItems& present, Vertex* to,
                        PickCounters&) const {
    const Row row = program.graph.row(asked.vertex);
    const std::uint64_t key = asked.low | std::uint64_t{asked.high} << 32;
    if constexpr (kOneAnswer) {
      if (group.rank() == 0) *to = Draw::target(present.page, row, key);
    } else {
      const NeighborDraws draws{{program.seed, asked.step, key}, asked.entry, program.neighbor_size()};
      Draw::targets(group, present.page, row, draws, program.neighbors_of(asked.vertex, row),
                    program.distinct(), to);
    }
    return true;
  }
};

}  // namespace sluice::samples

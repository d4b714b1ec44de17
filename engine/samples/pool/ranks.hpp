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
  const std::uint64_t begin_bytes = PoolProgram<Sampler>::kBranches ? sizeof(std::uint64_t) : 0,
                      question_bytes = sizeof(PoolQuestionOf<Sampler>) + begin_bytes +
                                       program.neighbor_size() * sizeof(Vertex),
                      sent_bytes = question_bytes + sizeof(std::uint32_t),
                      received_bytes = question_bytes + paged_item_bytes(device);
  return kParkedPoolBytes + sent_bytes + static_cast<std::uint64_t>(ranks->size()) * received_bytes;
}

/// The pools of a batch, as AskingItems::batch.
template <PoolSampler Sampler>
struct WaitingPools {
  static constexpr bool kBranches = PoolProgram<Sampler>::kBranches;

  PoolRows rows;
  PoolState* states;
  const Vertex* awaited;   ///< vertex whose list each pool needs; kNoVertex: none
  Instance first;          ///< first instance of the batch

  SLUICE_HD Vertex awaited_vertex(std::uint64_t pool) const { return awaited[pool]; }
  SLUICE_HD PoolQuestionOf<Sampler> question(std::uint64_t pool) const {
    const PoolState& state = states[pool];
    const std::uint64_t key = kBranches ? first + pool : state.draw;
    const auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
    if constexpr (kBranches) {
      return {low, high, state.step, state.expanded, awaited[pool]};
    } else {
      return {low, high, awaited[pool]};
    }
  }
  template <class Group>
  SLUICE_HD void receive(const Group& group, std::uint64_t pool, const PoolQuestionOf<Sampler>&,
                         const Vertex* targets, std::uint64_t count) const {
    if constexpr (kBranches) {
      Vertex* const target = rows.at(pool).targets;
      for (std::uint64_t j = group.rank(); j < count; j += Group::kSize) target[j] = targets[j];
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

  SLUICE_HD std::uint64_t answer_count(const Question& question) const {
    return program.neighbors_of(question.vertex, program.graph.row(question.vertex));
  }
  template <class Group>
  SLUICE_HD bool answer(const Group& group, const Question& question, const PageItems& page_items,
                        Vertex* answers, PickCounters&) const {
    const Row row = program.graph.row(question.vertex);
    const std::uint64_t key = question.low | std::uint64_t{question.high} << 32;
    if constexpr (kOneAnswer) {
      if (group.rank() == 0) *answers = Draw::target(page_items.page, row, key);
    } else {
      const NeighborDraws draws{{program.seed, question.step, key}, question.entry, program.neighbor_size()};
      Draw::targets(group, page_items.page, row, draws, program.neighbors_of(question.vertex, row),
                    program.distinct(), answers);
    }
    return true;
  }
};

}  // namespace sluice::samples

// Where the parts of beliefs are worked on: by the host's cores, where messages lie (beliefs/parts_host.cpp),
// or by a GPU, which they are brought to (beliefs/parts_cuda.cu).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/message_parts.hpp"
#include "engine/acc/beliefs/part.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "partition/plan.hpp"

namespace sluice::acc {

/// What a round comes to on this rank.
struct BeliefRound {
  double change = 0;          ///< the largest of a belief
  bool no_state = false;      ///< a vertex has none left
  bool nothing_sent = false;  ///< or none left to send a neighbour
};

class BeliefPartBackend {
 public:
  virtual ~BeliefPartBackend() = default;
  /// The rows of parts.
  virtual Ownership parts() const = 0;
  /// Every vertex combines what it has received, and, where `sends`, sends to all its neighbours.
  /// `program` has the vertex states of all rows.
  virtual BeliefRound round(const BeliefPropagation& program, bool sends) = 0;
  /// Adds what it took.
  virtual void count(AccStats& stats) const = 0;
};

/// Makes what it holds while messages are laid out beside it. Both keep references to all.
std::unique_ptr<BeliefPartBackend> make_host_belief_parts(const Device& device, const RankPart& rows,
                                                          const MessageParts& messages);
/// Takes what the device has left for parts that come and go. Throws BudgetError where two do not fit.
std::unique_ptr<BeliefPartBackend> make_cuda_belief_parts(const Device& device, const RankPart& rows,
                                                          const MessageParts& messages, unsigned states,
                                                          bool damped);

/// Into how many parts the host cuts a rank's edges where these are not brought in partitions.
inline std::uint64_t host_belief_parts(const PagingOptions& paging, std::uint64_t edges) {
  return std::max(paging.partitions, edges / (BeliefPart::kMostEdges / 2) + 1);
}

/// What a GPU holds of an edge while its part is there.
inline std::uint64_t belief_slot_bytes(unsigned states, bool weighted) {
  return MessageParts::bytes(1, states) + (weighted ? sizeof(float) : 0);
}
/// Parts that a GPU can hold two of, or as many as were asked for, where everything else is there already.
/// Throws BudgetError where two do not fit.
PartitionPlan cut_for_slots(const Device& device, const RankPart& rows, unsigned states);
/// How many are there at once.
std::uint64_t belief_slots(const RankPart& rows, const PartitionPlan& plan);

/// Part `part` of the rows; its messages are where the host has them.
BeliefPart belief_part(const BeliefPropagation& program, const RankPart& rows, const MessageParts& messages,
                       std::uint64_t part);

}  // namespace sluice::acc

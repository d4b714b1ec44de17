// Backends that process the parts of belief propagation: host threads, on messages in place
// (beliefs/parts_host.cpp), or a GPU, to which parts are copied (beliefs/parts_cuda.cu).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/acc/beliefs/message_parts.hpp"
#include "engine/acc/beliefs/part.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "partition/plan.hpp"

namespace sluice::acc {

/// The result of a round on this rank.
struct BeliefRound {
  double change = 0;          ///< largest change of a belief
  bool no_state = false;      ///< a vertex has no state left
  bool nothing_sent = false;  ///< a vertex has no state to send to a neighbour
};

class BeliefPartBackend {
 public:
  virtual ~BeliefPartBackend() = default;
  /// The rows of each part.
  virtual Ownership parts() const = 0;
  /// Every vertex combines the messages that it has received and, if `sends`, sends to all neighbours.
  /// `program` has the vertex states of all rows.
  virtual BeliefRound round(const BeliefPropagation& program, bool sends) = 0;
  /// Adds the backend's statistics.
  virtual void count(AccStats& stats) const = 0;
};

/// Makes a backend before messages are laid out. Both functions keep references to all arguments.
std::unique_ptr<BeliefPartBackend> make_host_belief_parts(const Device& device, const RankPart& rank_part,
                                                          const MessageParts& messages);
/// Uses the device's remaining memory for slots of parts. Throws BudgetError if two parts do not fit.
std::unique_ptr<BeliefPartBackend> make_cuda_belief_parts(const Device& device, const RankPart& rank_part,
                                                          const MessageParts& messages, unsigned states,
                                                          bool damped);

/// Bytes per edge of a part in a GPU's slot.
inline std::uint64_t belief_slot_bytes(unsigned states, bool weighted) {
  return MessageParts::bytes(1, states) + (weighted ? sizeof(float) : 0);
}
/// Cuts rows into parts of which two (or the slots that the user asked for) fit a GPU, or into as many parts
/// as asked for. All other memory must be allocated before. Throws BudgetError if two do not fit.
PartitionPlan cut_for_slots(const Device& device, const RankPart& rank_part, unsigned states);
/// The number of parts on a GPU at once.
std::uint64_t belief_slots(const RankPart& rank_part, const PartitionPlan& plan);

/// Makes the view of part `part`, with its messages in host memory.
BeliefPart belief_part(const BeliefPropagation& program, const RankPart& rank_part,
                       const MessageParts& messages, std::uint64_t part);

}  // namespace sluice::acc

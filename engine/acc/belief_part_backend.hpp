// Where the parts of beliefs over ranks and in partitions are worked on: by the host's cores, where messages
// lie (host_belief_parts.cpp), or by a GPU, which they are brought to (cuda_belief_parts.cu).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/acc/belief_part.hpp"
#include "engine/acc/message_parts.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/owned_rows.hpp"

namespace sluice::acc {

/// What a round comes to on this rank.
struct BeliefRound {
  double change = 0;          ///< the largest of a belief
  bool no_state = false;      ///< a vertex has none left
  bool nothing_told = false;  ///< or none left to tell a neighbour of
};

class BeliefPartBackend {
 public:
  virtual ~BeliefPartBackend() = default;
  /// Where parts begin: rows, [parts + 1].
  virtual std::vector<std::uint64_t> boundaries() const = 0;
  /// Every vertex makes up its mind by what it has heard, and, where `tells`, says so to all its neighbours.
  /// `program` has the vertex states of all rows.
  virtual BeliefRound round(const BeliefPropagation& program, bool tells) = 0;
  /// Adds what it took.
  virtual void count(AccStats& stats) const = 0;
};

/// Makes what it holds while messages are laid out beside it. Both keep references to all.
std::unique_ptr<BeliefPartBackend> make_host_belief_parts(const Device& device, const OwnedRows& rows,
                                                          const MessageParts& messages);

/// Part `part` of the rows; its messages are where the host has them.
BeliefPart belief_part(const BeliefPropagation& program, const OwnedRows& rows, const MessageParts& messages,
                       std::uint64_t part);

}  // namespace sluice::acc

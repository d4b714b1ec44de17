// How the rows of a batch of walks leave the device: in pieces, over the ranks that have parts of them, to
// the sink.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::walks {

class BatchRows {
 public:
  /// Rows of `length` + 1 vertices, `per_origin` of each origin rank of a batch. `parts`: every one of these
  /// ranks has a part of each row; null: this rank's are whole here. Rows of more steps than `leg` come in
  /// legs, to a rank that is alone, and are put together in host memory. `sink` may be null. Keeps
  /// references.
  BatchRows(const Device& device, const BatchOrigins& origins, Communicator* parts, std::uint64_t per_origin,
            std::uint32_t length, std::uint32_t leg, WalkSink* sink, RunStats& stats);

  /// A leg of the current batch's rows leaves: steps (from, until], each row with an entry before them. Not
  /// the last leg.
  void leave_leg(const Vertex* rows, std::uint32_t from, std::uint32_t until, BatchWriter& writer);
  /// The current batch's rows, or their last leg: in order of origin rank where ranks have parts, otherwise
  /// this rank's. What whole rows take of the host's memory does not grow with them.
  void leave(const Vertex* rows, BatchWriter& writer);

 private:
  void leave_some(const Vertex* rows, std::uint64_t from, BatchWriter& writer);
  void write_batch(BatchWriter& writer);

  const Device& device_;
  const BatchOrigins& origins_;
  Communicator* parts_;
  std::uint64_t per_origin_, row_, leg_, piece_ = 1;
  WalkSink* sink_;
  RunStats& stats_;
  std::array<Staging<Vertex>, 2> pieces_;
  HostArray<Vertex> batch_;   ///< [per_origin][row], where rows come in legs
  HostArray<Vertex> theirs_;  ///< [ranks][piece][row] what other ranks have of this rank's rows
  std::uint64_t turn_ = 0;
};

}  // namespace sluice::walks

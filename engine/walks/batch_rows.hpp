// Copies the rows of a batch of walks from the device to the sink, piece by piece. If several ranks hold
// parts of a row, they exchange and merge these first.
#pragma once

#include <array>
#include <cstdint>

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
  /// Rows have `length` + 1 vertices; a batch has `per_origin` rows of each origin rank. `parts`: these ranks
  /// all hold a part of each row; null: this rank's rows are complete on its device. Rows of more than `leg`
  /// steps arrive in legs, only in a run of one rank, and are assembled in host memory. `sink` may be null.
  /// Keeps references.
  BatchRows(const Device& device, const BatchOrigins& origins, Communicator* parts, std::uint64_t per_origin,
            std::uint32_t length, std::uint32_t leg, WalkSink* sink, RunStats& stats);

  /// Copies one leg of the current batch's rows: steps (leg_begin, leg_end]. Each row on the device has one
  /// entry before these steps. Not for the last leg.
  void copy_leg(const Vertex* rows, std::uint32_t leg_begin, std::uint32_t leg_end, BatchWriter& writer);
  /// Copies the current batch's rows, or their last leg, and submits this rank's rows to `writer`. If ranks
  /// have parts, `rows` holds all origin ranks' rows in rank order. Host memory for rows without legs is
  /// bounded.
  void submit(const Vertex* rows, BatchWriter& writer);

 private:
  void submit_piece(const Vertex* rows, std::uint64_t first_row, BatchWriter& writer);
  void write_batch(BatchWriter& writer);

  const Device& device_;
  const BatchOrigins& origins_;
  Communicator* parts_;
  std::uint64_t per_origin_, row_, leg_, piece_ = 1;
  WalkSink* sink_;
  RunStats& stats_;
  std::array<Staging<Vertex>, 2> pieces_;
  HostArray<Vertex> batch_;   ///< [per_origin][row], if rows arrive in legs
  HostArray<Vertex> received_;  ///< [ranks][piece][row] all ranks' parts of this rank's rows
  std::uint64_t piece_index_ = 0;
};

}  // namespace sluice::walks

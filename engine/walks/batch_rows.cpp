#include "engine/walks/batch_rows.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/resident_impl.hpp"

namespace sluice::walks {

BatchRows::BatchRows(const Device& device, const BatchOrigins& origins, Communicator* parts,
                     std::uint64_t per_origin, std::uint32_t length, std::uint32_t leg, WalkSink* sink,
                     RunStats& stats)
    : device_(device),
      origins_(origins),
      parts_(parts),
      per_origin_(per_origin),
      row_(std::uint64_t{length} + 1),
      leg_(std::max(leg, 1u)),
      sink_(sink),
      stats_(stats) {
  constexpr std::uint64_t kPieceBytes = 32u << 20, kMinPieces = 8, kMinBytes = 16u << 10;
  const std::uint64_t copied = parts_ ? origins_.size() : 1;
  std::uint64_t bytes = std::min(kPieceBytes, host_budget().available() / kMinPieces) / copied;
  if (parts_) parts_->all_reduce(std::span(&bytes, 1), Reduce::min, "the size of results");
  // All pieces together have no more rows than one rank's, but pieces below kMinBytes do not pay a message.
  const std::uint64_t row_bytes = row_ * sizeof(Vertex),
                      share = std::max((per_origin_ + copied - 1) / copied, kMinBytes / row_bytes);
  piece_ = std::clamp<std::uint64_t>(bytes / row_bytes, 1, std::min(per_origin_, share));
  if (!sink_) return;
  for (auto& piece : pieces_) piece = Staging<Vertex>(device_, copied * piece_ * row_, "departing walks");
  if (length > leg_) batch_ = HostArray<Vertex>(per_origin_ * row_, "walks in legs");
  if (parts_) received_ = HostArray<Vertex>(copied * piece_ * row_, "walks from other ranks");
}

void BatchRows::copy_leg(const Vertex* rows, std::uint32_t leg_begin, std::uint32_t leg_end,
                         BatchWriter& writer) {
  if (!sink_) return;
  writer.finish();  // the previous batch is being written from the same memory
  const double start = seconds_now();
  const std::uint64_t row = leg_ + 1, count = origins_.own_count(), max_rows = piece_ * row_ / row;
  const std::uint64_t skipped = leg_begin == 0 ? 0 : 1, entries = leg_end - leg_begin + 1 - skipped;
  for (std::uint64_t first = 0; first < count; first += max_rows) {
    const std::uint64_t piece_rows = std::min(max_rows, count - first);
    Vertex* const piece = pieces_[0].data();
    copy_to_host(device_, piece, rows + first * row, piece_rows * row * sizeof(Vertex));
    stats_.device_to_host_bytes += piece_rows * row * sizeof(Vertex);
    constexpr std::uint64_t kRowsPerBlock = 4096;
    parallel_blocks(device_.threads(), piece_rows, kRowsPerBlock,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i)
                        std::copy_n(piece + i * row + skipped, entries,
                                    batch_.data() + (first + i) * row_ + leg_begin + skipped);
                    });
  }
  stats_.transfer_seconds += seconds_now() - start;
}

/// Submits the batch's rows, now complete, to the sink.
void BatchRows::write_batch(BatchWriter& writer) {
  const Instance first = origins_.own_first(), count = origins_.own_count();
  writer.submit([=, this] {
    const auto length = static_cast<std::uint32_t>(row_ - 1);
    for (Instance i = 0; i < count; i += piece_) {
      const Instance rows = std::min<Instance>(piece_, count - i);
      sink_->write({first + i, rows, length, {batch_.data() + i * row_, rows * row_}, {}, {}});
    }
  });
}

void BatchRows::submit(const Vertex* rows, BatchWriter& writer) {
  if (!batch_.empty()) {
    const auto length = static_cast<std::uint32_t>(row_ - 1), leg = static_cast<std::uint32_t>(leg_);
    copy_leg(rows, (length - 1) / leg * leg, length, writer);
    if (origins_.own_count() > 0) write_batch(writer);
    return;
  }
  const std::uint64_t max_rows = parts_ ? origins_.max_count() : origins_.own_count();
  for (std::uint64_t first = 0; sink_ && first < max_rows; first += piece_) submit_piece(rows, first, writer);
}

/// Copies rows [first_row, first_row + piece) of each origin rank, as far as they exist. Sends the other
/// ranks' rows to them, and submits this rank's rows to the sink.
void BatchRows::submit_piece(const Vertex* rows, std::uint64_t first_row, BatchWriter& writer) {
  const double start = seconds_now();
  Vertex* target = pieces_[piece_index_++ % 2].data();
  const auto copy = [&](std::uint64_t origin, std::uint64_t origin_begin) {
    const std::uint64_t count = origins_.count(origin),
                        piece_rows = std::min(piece_, count - std::min(count, first_row));
    const std::span<Vertex> part(target, piece_rows * row_);
    copy_to_host(device_, target, rows + (origin_begin + first_row) * row_, part.size_bytes());
    stats_.device_to_host_bytes += part.size_bytes();
    target += part.size();
    return part;
  };
  std::span<Vertex> own_rows;
  if (parts_) {
    const Vertex* const begin = target;
    std::vector<std::uint64_t> counts;
    for (std::uint64_t origin = 0; origin < origins_.size(); ++origin) {
      const auto part = copy(origin, origin * per_origin_);
      if (origin == origins_.own_index()) own_rows = part;
      counts.push_back(part.size());
    }
    const std::vector<std::uint64_t> receive_counts(counts.size(), own_rows.size());
    Router(*parts_).send(begin, received_.data(), counts, receive_counts, "rows of walks");
    // Ranks that know the vertex of a step agree on it; the others have kNoVertex, the largest value.
    const Vertex* received_part = received_.data();
    for (std::uint64_t rank = 0; rank < origins_.size(); ++rank)
      for (Vertex& v : own_rows) v = std::min(v, *received_part++);
  } else {
    own_rows = copy(origins_.own_index(), 0);
  }
  stats_.transfer_seconds += seconds_now() - start;
  const Instance first = origins_.own_first() + first_row;
  if (!own_rows.empty()) {
    writer.submit([=, this] {
      const auto length = static_cast<std::uint32_t>(row_ - 1);
      sink_->write({first, own_rows.size() / row_, length, own_rows, {}, {}});
    });
  } else {
    writer.finish();  // the next turn refills the piece that is being written
  }
}

}  // namespace sluice::walks

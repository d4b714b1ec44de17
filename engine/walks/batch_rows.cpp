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
  constexpr std::uint64_t kPieceBytes = 32u << 20, kLeastPieces = 8, kLeastBytes = 16u << 10;
  const std::uint64_t copied = parts_ ? origins_.size() : 1;
  std::uint64_t bytes = std::min(kPieceBytes, host_budget().available() / kLeastPieces) / copied;
  if (parts_) parts_->all_reduce(std::span(&bytes, 1), Reduce::min, "the size of results");
  // All pieces together have no more rows than one rank's, but pieces below kLeastBytes do not pay a message.
  const std::uint64_t row_bytes = row_ * sizeof(Vertex),
                      share = std::max((per_origin_ + copied - 1) / copied, kLeastBytes / row_bytes);
  piece_ = std::clamp<std::uint64_t>(bytes / row_bytes, 1, std::min(per_origin_, share));
  if (!sink_) return;
  for (auto& piece : pieces_) piece = Staging<Vertex>(device_, copied * piece_ * row_, "walks that leave");
  if (length > leg_) batch_ = HostArray<Vertex>(per_origin_ * row_, "walks in legs");
  if (parts_) theirs_ = HostArray<Vertex>(copied * piece_ * row_, "walks from other ranks");
}

void BatchRows::leave_leg(const Vertex* rows, std::uint32_t from, std::uint32_t until, BatchWriter& writer) {
  if (!sink_) return;
  writer.finish();  // the previous batch is being written from the same memory
  const double leaving = seconds_now();
  const std::uint64_t row = leg_ + 1, count = origins_.own_count(), some = piece_ * row_ / row;
  const std::uint64_t skipped = from == 0 ? 0 : 1, entries = until - from + 1 - skipped;
  for (std::uint64_t first = 0; first < count; first += some) {
    const std::uint64_t piece_rows = std::min(some, count - first);
    Vertex* const piece = pieces_[0].data();
    copy_to_host(device_, piece, rows + first * row, piece_rows * row * sizeof(Vertex));
    stats_.device_to_host_bytes += piece_rows * row * sizeof(Vertex);
    constexpr std::uint64_t kRowsAtOnce = 4096;
    parallel_blocks(device_.threads(), piece_rows, kRowsAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i)
                        std::copy_n(piece + i * row + skipped, entries,
                                    batch_.data() + (first + i) * row_ + from + skipped);
                    });
  }
  stats_.transfer_seconds += seconds_now() - leaving;
}

/// Submits the batch's rows, now complete, to the sink.
void BatchRows::write_batch(BatchWriter& writer) {
  const Instance first = origins_.own_first(), count = origins_.own_count();
  writer.submit([=, this] {
    const auto length = static_cast<std::uint32_t>(row_ - 1);
    for (Instance i = 0; i < count; i += piece_) {
      const Instance some = std::min<Instance>(piece_, count - i);
      sink_->write({first + i, some, length, {batch_.data() + i * row_, some * row_}, {}, {}});
    }
  });
}

void BatchRows::leave(const Vertex* rows, BatchWriter& writer) {
  if (!batch_.empty()) {
    const auto length = static_cast<std::uint32_t>(row_ - 1), leg = static_cast<std::uint32_t>(leg_);
    leave_leg(rows, (length - 1) / leg * leg, length, writer);
    if (origins_.own_count() > 0) write_batch(writer);
    return;
  }
  const std::uint64_t most = parts_ ? origins_.max_count() : origins_.own_count();
  for (std::uint64_t from = 0; sink_ && from < most; from += piece_) leave_some(rows, from, writer);
}

/// Copies rows [from, from + piece) of each origin rank, as far as they exist. Sends the other ranks' rows to
/// them, and submits this rank's rows to the sink.
void BatchRows::leave_some(const Vertex* rows, std::uint64_t from, BatchWriter& writer) {
  const double leaving = seconds_now();
  Vertex* to = pieces_[turn_++ % 2].data();
  const auto copy = [&](std::uint64_t origin, std::uint64_t before) {
    const std::uint64_t count = origins_.count(origin),
                        some = std::min(piece_, count - std::min(count, from));
    const std::span<Vertex> part(to, some * row_);
    copy_to_host(device_, to, rows + (before + from) * row_, part.size_bytes());
    stats_.device_to_host_bytes += part.size_bytes();
    to += part.size();
    return part;
  };
  std::span<Vertex> own_rows;
  if (parts_) {
    const Vertex* const begin = to;
    std::vector<std::uint64_t> counts;
    for (std::uint64_t origin = 0; origin < origins_.size(); ++origin) {
      const auto part = copy(origin, origin * per_origin_);
      if (origin == origins_.own_index()) own_rows = part;
      counts.push_back(part.size());
    }
    const std::vector<std::uint64_t> come(counts.size(), own_rows.size());
    Router(*parts_).send(begin, theirs_.data(), counts, come, "rows of walks");
    // Ranks that know the vertex of a step agree on it; the others have kNoVertex, the largest value.
    const Vertex* theirs = theirs_.data();
    for (std::uint64_t rank = 0; rank < origins_.size(); ++rank)
      for (Vertex& v : own_rows) v = std::min(v, *theirs++);
  } else {
    own_rows = copy(origins_.own_index(), 0);
  }
  stats_.transfer_seconds += seconds_now() - leaving;
  const Instance first = origins_.own_first() + from;
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

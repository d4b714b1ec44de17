#include "engine/drive/wave_rows.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "engine/residency/resident_graph.hpp"

namespace sluice {

WaveRows::WaveRows(const Device& device, const WaveHomes& homes, Communicator* parts, std::uint64_t per_home,
                   std::uint32_t length, WalkSink* sink, RunStats& stats)
    : device_(device),
      homes_(homes),
      parts_(parts),
      per_home_(per_home),
      row_(std::uint64_t{length} + 1),
      sink_(sink),
      stats_(stats) {
  constexpr std::uint64_t kPieceBytes = 32u << 20, kLeastPieces = 8;
  const std::uint64_t copied = parts_ ? homes_.size() : 1;
  std::uint64_t bytes = std::min(kPieceBytes, host_accountant().available() / kLeastPieces) / copied;
  if (parts_) parts_->all_reduce(std::span(&bytes, 1), Reduce::min, "the size of results");
  piece_ = std::clamp<std::uint64_t>(bytes / (row_ * sizeof(Vertex)), 1, per_home_);
  if (!sink_) return;
  for (auto& piece : pieces_) piece = Staging<Vertex>(device_, copied * piece_ * row_, "walks that leave");
}

void WaveRows::leave(const Vertex* rows) {
  const std::uint64_t most = parts_ ? homes_.most() : homes_.own_count();
  for (std::uint64_t from = 0; sink_ && from < most; from += piece_) leave_some(rows, from);
}

/// Rows [from, from + piece) of each home, as far as they exist: to the other ranks if they are theirs, ours
/// to the sink.
void WaveRows::leave_some(const Vertex* rows, std::uint64_t from) {
  const double leaving = seconds_now();
  Vertex* to = pieces_[turn_++ % 2].data();
  const auto copy = [&](std::uint64_t home) {
    const std::uint64_t count = homes_.count(home), some = std::min(piece_, count - std::min(count, from));
    const std::span<const Vertex> part(to, some * row_);
    copy_to_host(device_, to, rows + (home * per_home_ + from) * row_, part.size_bytes());
    stats_.device_to_host_bytes += part.size_bytes();
    to += part.size();
    return part;
  };
  std::span<const Vertex> mine;
  auto gathered = std::make_shared<std::vector<Vertex>>();
  if (parts_) {
    std::vector<std::span<const Vertex>> parts;
    for (std::uint64_t home = 0; home < homes_.size(); ++home) parts.push_back(copy(home));
    *gathered = gather_rows(*parts_, parts);
    mine = *gathered;
  } else {
    mine = copy(homes_.own());
  }
  const double waiting = seconds_now();
  stats_.transfer_seconds += waiting - leaving;
  const Instance first = homes_.own_first() + from;
  if (!mine.empty()) {
    writer_.submit([=, this] {
      const auto length = static_cast<std::uint32_t>(row_ - 1);
      sink_->write({first, mine.size() / row_, length, mine, {}, {}});
      gathered->clear();
    });
  }
  stats_.write_seconds += seconds_now() - waiting;
}

void WaveRows::finish() {
  const double waiting = seconds_now();
  writer_.finish();
  stats_.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice

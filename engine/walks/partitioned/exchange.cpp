#include "engine/walks/partitioned/exchange.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/clock.hpp"
namespace sluice {

namespace {

/// Half of the travelling memory is for walks that leave, half for those that arrive; all ranks take as many.
std::uint64_t walks_in_a_piece(Communicator& ranks, const Device& device) {
  std::uint64_t walks[] = {travelling_bytes(device) / 2 / sizeof(TravellingWalk)};
  ranks.all_reduce(walks, Reduce::min, "walks in a piece");
  return walks[0];
}

}  // namespace

WalkExchange::WalkExchange(Communicator& ranks, const Device& device, WalkQueues& queues,
                           std::uint32_t partitions)
    : ranks_(ranks),
      piece_(walks_in_a_piece(ranks, device)),
      queues_(queues),
      link_(queues.connect(ranks)),
      router_(ranks, device, link_.get(), piece_ * sizeof(TravellingWalk)),
      leaving_(device, piece_, "walks that leave"),
      arriving_(device, piece_, "walks that arrive") {
  for (int rank = 0; rank < ranks.size(); ++rank) {
    ranges_.push_back(rank == ranks.rank() ? OwnedPartitions{}
                                           : OwnedPartitions::of(partitions, rank, ranks.size()));
  }
}

bool WalkExchange::hand_over(std::uint64_t waiting, RunStats& stats) {
  constexpr const char* kLabel = "walks from other ranks";
  const std::vector<std::uint64_t> leaving = queues_.depart(ranges_);
  const std::vector<std::uint64_t> arriving = router_.counts(leaving, kLabel);
  stats.entries_sent += std::reduce(leaving.begin(), leaving.end());
  stats.entries_received += std::reduce(arriving.begin(), arriving.end());
  std::uint64_t most[] = {*std::ranges::max_element(leaving), waiting};
  ranks_.all_reduce(most, Reduce::max, "walks under way");

  const std::uint64_t piece = std::max<std::uint64_t>(piece_ / ranges_.size(), 1);
  std::vector<std::uint64_t> send(ranges_.size()), receive(ranges_.size());
  for (std::uint64_t from = 0; from < most[0]; from += piece) {
    const auto part = [&](std::uint64_t all) { return std::min(piece, all - std::min(all, from)); };
    std::ranges::transform(leaving, send.begin(), part);
    std::ranges::transform(arriving, receive.begin(), part);
    TravellingWalk* out = leaving_.data();
    for (std::size_t rank = 0; rank < send.size(); out += send[rank++]) {
      if (send[rank] > 0) queues_.pack(rank, from, send[rank], out);
    }
    const RoutedColumn walks{leaving_.data(), arriving_.data(), sizeof(TravellingWalk)};
    stats.exchange_seconds += router_.send({&walks, 1}, send, receive, queues_.stream(), kLabel);
    queues_.settle(arriving_.data(), std::reduce(receive.begin(), receive.end()));
  }
  return most[0] > 0 || most[1] > 0;
}

void WalkExchange::send_to_origins(Vertex* rows, std::uint64_t per_origin, RunStats& stats) {
  const double start = seconds_now();
  // Of each step of a row one rank has the vertex, the others none, which is the largest.
  link_->reduce_scatter_min(rows, per_origin, queues_.stream());
  link_->wait(queues_.stream(), "rows of walks");
  stats.exchange_seconds += seconds_now() - start;
}

}  // namespace sluice

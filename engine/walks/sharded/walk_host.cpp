#include "engine/walks/sharded/walk_host.hpp"

#include <algorithm>
#include <numeric>

#include "engine/exec/threads.hpp"

namespace sluice::host {

void HostShardRows::clear() {
  std::fill_n(memory_.data(), memory_.size(), kNoVertex);
}

template <bool kAsks>
HostShardWalks<kAsks>::HostShardWalks(const ShardSetup& setup, ShardRows& rows)
    : paths_(rows.data()),
      row_(std::uint64_t{setup.length} + 1),
      records_(setup.device, setup.most(), "walks under way"),
      device_(setup.device),
      ranks_(setup.ranks),
      begin_count_(setup.size()),
      ranks_of_block_(static_cast<std::size_t>(setup.ranks.size()) + 1),
      ranks_of_keys_(setup.ranks_of_keys),
      leaving_(setup.device, setup.most(), "walks that leave"),
      destinations_(setup.device, setup.most(), "walks that leave"),
      blocks_(blocks_of(setup.most()) * ranks_of_block_, "counts of walks") {
  wire_.reserve(setup.most(), "walks from other ranks");
}

template <bool kAsks>
void HostShardWalks<kAsks>::begin() {
  record_count_ = begin_count_;
  clear_counts();
  parallel_blocks(device_.threads(), record_count_, kGrain,
                  [&](std::uint64_t from, std::uint64_t to, unsigned) { begin_block(from, to); });
}

template <bool kAsks>
Crossing HostShardWalks<kAsks>::exchange() {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks_.size()), 0);
  sort_by_destination(counts);
  const std::uint64_t leaving = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  wire_.exchange(ranks_, {leaving_.data(), leaving}, counts, "walks from other ranks");
  std::ranges::copy(wire_.values(), records_.data());
  record_count_ = wire_.values().size();
  const std::uint64_t stayed = counts[static_cast<std::size_t>(ranks_.rank())];
  std::uint64_t all[] = {leaving - stayed, leaving};
  ranks_.all_reduce(all, Reduce::sum, "walks under way");
  return {leaving - stayed, record_count_ - stayed, record_count_, all[0], all[1]};
}

template <bool kAsks>
void HostShardWalks<kAsks>::advance() {
  clear_counts();
  parallel_blocks(device_.threads(), record_count_, kGrain,
                  [&](std::uint64_t from, std::uint64_t to, unsigned) { advance_block(from, to); });
}

template <bool kAsks>
std::pair<Vertex, Vertex> HostShardWalks<kAsks>::first_pair() {
  const Walker walker = walker_of(records_.data()[0].parked());
  return {walker.current, asked_by(walker)};
}

template <bool kAsks>
void HostShardWalks<kAsks>::clear_counts() {
  std::fill_n(blocks_.data(), blocks_of(record_count_) * ranks_of_block_, 0);
}

/// Records in order of destination, without those that have ended; `counts` by rank.
template <bool kAsks>
void HostShardWalks<kAsks>::sort_by_destination(std::vector<std::uint64_t>& counts) {
  const std::size_t ranks = counts.size(), blocks = blocks_of(record_count_);
  std::uint64_t before = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::uint64_t first = before;
    for (std::size_t b = 0; b < blocks; ++b)
      before += std::exchange(blocks_[b * ranks_of_block_ + r], before);
    counts[r] = before - first;
  }
  parallel_blocks(device_.threads(), record_count_, kGrain,
                  [&](std::uint64_t from, std::uint64_t to, unsigned) {
                    std::uint64_t* const next = blocks_.data() + from / kGrain * ranks_of_block_;
                    for (std::uint64_t i = from; i < to; ++i) {
                      const std::uint32_t rank = destinations_.data()[i];
                      if (rank < ranks) leaving_.data()[next[rank]++] = records_.data()[i];
                    }
                  });
}

template class HostShardWalks<false>;
template class HostShardWalks<true>;

}  // namespace sluice::host

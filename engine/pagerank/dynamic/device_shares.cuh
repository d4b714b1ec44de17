// Exchange of contributions between ranks' GPUs (changed_rows.hpp). Hosts exchange the counts of changed
// rows.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/memory_budget.hpp"
#include "engine/exchange/router.hpp"
#include "engine/pagerank/dynamic/changed_rows.hpp"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/rows_cuda.cuh"

namespace sluice::pagerank {

/// Writes `rows` and their contributions to `entries`.
template <class Share>
void pack_shares(const RankState<Share, cuda::CudaExecutor>& state, const Vertex* rows,
                 const ParcelColumns<typename Share::Stored>& entries, std::uint64_t size) {
  const auto* const shares = state.shares.data();
  state.for_each(size, [=] __device__(std::uint64_t i, cuda::CudaLane&) {
    entries.vertices[i] = rows[i], entries.values[i] = shares[rows[i]];
  });
}

/// Stores received contributions of other ranks' vertices. The old ones, which out-neighbours have received,
/// go to `old_shares`.
template <class Share>
void store_shares(const RankState<Share, cuda::CudaExecutor>& state,
                  const ParcelColumns<typename Share::Stored>& entries, std::uint64_t size) {
  const auto shares = state.shares.data(), old_shares = state.old_shares.data();
  state.for_each(size, [=] __device__(std::uint64_t i, cuda::CudaLane&) {
    const Vertex row = entries.vertices[i];
    old_shares[row] = shares[row];
    shares[row] = entries.values[i];
  });
}

template <class Share>
class DeviceShares {
 public:
  using State = RankState<Share, cuda::CudaExecutor>;

  /// Keeps references.
  DeviceShares(const Device& device, const Router& peers, State& state)
      : peers_(peers),
        state_(state),
        capacity_(entries_per_exchange(peers.owners().vertices())),
        entries_(device, peers.is_single_rank() ? 0 : peers.size() * capacity_, kLabel) {}

  /// Sends the other ranks the contributions of own vertices, and receives theirs. Those of `changed`, in GPU
  /// memory, have changed. All ranks call it.
  void send(std::span<const Vertex> changed) {
    if (peers_.is_single_rank()) return;
    const std::uint64_t own_count =
        peers_.template sends_all<Stored>(changed.size()) ? kAllRows : changed.size();
    const auto sent = peers_.exchange_counts(std::vector(peers_.size(), own_count), kLabel);
    gather_rows(whole_row_ranges(peers_.owners(), sent));
    for (std::uint64_t done = 0;; done += capacity_) {
      const std::vector<ElementRange> ranges = entry_ranges(sent, done, capacity_);
      if (all_empty(ranges)) break;
      gather_entries(changed.subspan(std::min<std::uint64_t>(done, changed.size())), ranges);
    }
  }

  /// The same for all own vertices.
  void send_all() { gather_rows(ranges_of(peers_.owners())); }

 private:
  using Stored = typename Share::Stored;
  using Columns = ParcelColumns<Stored>;
  struct Entry {
    std::byte bytes[Router::kEntryBytes<Stored>];
  };
  static constexpr const char* kLabel = "changed contributions";

  const cuda::Stream& stream() const { return state_.executor.cuda_stream(); }

  /// The entries of a rank, in the layout of a parcel.
  Columns columns_of(const ElementRange& range) const {
    return Columns(entries_.data()[range.begin].bytes, range.end - range.begin);
  }

  /// Calls visit(range) for every other rank whose range is not empty.
  template <class Visit>
  void for_each_remote(std::span<const ElementRange> ranges, Visit&& visit) const {
    for (std::size_t rank = 0; rank < ranges.size(); ++rank)
      if (rank != peers_.own_rank() && ranges[rank].begin < ranges[rank].end) visit(ranges[rank]);
  }

  void gather_rows(std::span<const ElementRange> rows) {
    if (all_empty(rows) || host_budget().counts_only()) return;  // a plan has no rows
    Stored* const shares = state_.shares.data();
    for_each_remote(rows, [&](const ElementRange& range) {
      cuda::check(cudaMemcpyAsync(state_.old_shares.data() + range.begin, shares + range.begin,
                                  (range.end - range.begin) * sizeof(Stored), cudaMemcpyDeviceToDevice,
                                  stream().get()),
                  "copying contributions");
    });
    peers_.share_ranges(shares, rows, kLabel, stream().get());
  }

  /// Exchanges as many of `changed` as this rank has places.
  void gather_entries(std::span<const Vertex> changed, std::span<const ElementRange> ranges) {
    const ElementRange& own = ranges[peers_.own_rank()];
    pack_shares(state_, changed.data(), columns_of(own), own.end - own.begin);
    peers_.share_ranges(entries_.data(), ranges, kLabel, stream().get());
    for_each_remote(ranges, [&](const ElementRange& range) {
      store_shares(state_, columns_of(range), range.end - range.begin);
    });
  }

  const Router& peers_;
  State& state_;
  std::uint64_t capacity_;
  Buffer<Entry> entries_;  ///< [ranks][capacity] changed rows and their contributions
};

}  // namespace sluice::pagerank

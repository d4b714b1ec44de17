// `node` samples over ranks that each own a range of partitions. Draws belong to the instance, so every rank
// draws the sets of all ranks' instances by itself and looks through the lists that it owns; only the edges
// that it finds go to the origin rank. Ranks own ascending ranges of vertices: an instance's edges are in
// order when those of one rank stand behind those of the rank before.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::samples {

class NodeRanks {
 public:
  /// `link` null, on all ranks: edges travel through the hosts. Throws BudgetError.
  NodeRanks(Communicator& ranks, DeviceRanks* link, const Device& device, RunStats& stats)
      : ranks_(ranks), device_(device), stats_(stats), router_(ranks, device, link, kPieceBytes) {}

  /// A batch begins, here with `batch`; returns the instances of all ranks, in order of rank.
  const std::vector<OriginBatch>& begin(const OriginBatch& batch) {
    return origins_ = gather_batches(ranks_, batch);
  }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  /// What this rank has found of a batch, in device memory; instances in order of rank.
  struct Found {
    const std::uint64_t* counts = nullptr;  ///< edges of each instance
    const Edge* edges = nullptr;            ///< these, one instance's behind the other's
    std::vector<std::uint64_t> by_origin;   ///< how many each rank's instances have
    void* stream = nullptr;                 ///< in whose order they are written
  };

  /// Every instance's edges go to its origin rank, as `find` says what was found here; all ranks call it.
  /// Throws BudgetError, on all of them, where `find` does, or where what comes does not fit.
  template <class Find>
  void send_to_origins(const Find& find) {
    Found found;
    found.by_origin.resize(origins_.size());
    const auto came = router_.counts_after([&] { find(found); }, found.by_origin, kPurpose);
    edges_came_ = std::accumulate(came.begin(), came.end(), std::uint64_t{0});
    std::vector<std::uint64_t> instances;
    for (const OriginBatch& origin : origins_) instances.push_back(origin.count);
    const std::vector<std::uint64_t> own_counts(origins_.size(), origins_[own()].count);
    together(&ranks_, [&] {
      counts_.reserve(device_, origins_.size() * origins_[own()].count, kPurpose);
      edges_.reserve(device_, edges_came_, kPurpose);
    });
    exchange({found.counts, counts_.data(), sizeof(std::uint64_t)}, instances, own_counts, found.stream);
    exchange({found.edges, edges_.data(), sizeof(Edge)}, found.by_origin, came, found.stream);
    stats_.entries_sent += std::accumulate(found.by_origin.begin(), found.by_origin.end(), std::uint64_t{0}) -
                           found.by_origin[own()];
    stats_.entries_received += edges_came_ - came[own()];
  }

  // What came from all ranks, in device memory, in order of the rank that found it.
  /// [ranks][instances of this rank] edges of each instance
  const Buffer<std::uint64_t>& counts() const { return counts_; }
  const Buffer<Edge>& edges() const { return edges_; }
  std::size_t ranks() const { return origins_.size(); }
  std::uint64_t bytes() const { return counts_.bytes() + edges_.bytes(); }

 private:
  static constexpr const char* kPurpose = "edges from other ranks";
  static constexpr std::uint64_t kPieceBytes = 4u << 20;

  void exchange(const RoutedColumn& column, const std::vector<std::uint64_t>& send,
                const std::vector<std::uint64_t>& receive, void* stream) {
    stats_.exchange_seconds += router_.send({&column, 1}, send, receive, stream, kPurpose);
  }

  Communicator& ranks_;
  const Device& device_;
  RunStats& stats_;
  std::vector<OriginBatch> origins_;  ///< by rank
  std::uint64_t edges_came_ = 0;
  Buffer<std::uint64_t> counts_;
  Buffer<Edge> edges_;
  Router router_;  ///< goes first, for others may not come any more
};

}  // namespace sluice::samples

// `node` samples over ranks that each own a range of partitions. Draws are keyed by instance, so every rank
// draws the sets of all ranks' instances itself and scans the lists that it owns; it sends only the edges
// that it finds to the origin rank. Ranks own ascending ranges of vertices: an instance's edges, concatenated
// in order of rank, are in order.
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
  /// `link` is null on all ranks or on none; null: edges pass through host memory. Throws BudgetError.
  NodeRanks(Communicator& ranks, DeviceRanks* link, const Device& device, RunStats& stats)
      : ranks_(ranks), device_(device), stats_(stats), router_(ranks, device, link, kPieceBytes) {}

  /// Begins a batch, in which this rank's part is `batch`; returns the parts of all ranks, in order of rank.
  const std::vector<OriginBatch>& begin(const OriginBatch& batch) {
    return origins_ = gather_batches(ranks_, batch);
  }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  /// The edges of a batch that this rank found, in device memory; instances in order of rank.
  struct Found {
    const std::uint64_t* counts = nullptr;  ///< edges of each instance
    const Edge* edges = nullptr;            ///< the edges, instance by instance
    std::vector<std::uint64_t> by_origin;   ///< number of edges of each rank's instances
    void* stream = nullptr;                 ///< the stream that writes the arrays
  };

  /// Calls find(found) to fill in `found`, then sends every instance's edges to its origin rank. All ranks
  /// call it. Throws BudgetError on all of them if `find` does on one, or if received edges do not fit.
  template <class Find>
  void send_to_origins(const Find& find) {
    Found found;
    found.by_origin.resize(origins_.size());
    const auto receive_counts =
        router_.exchange_counts_after([&] { find(found); }, found.by_origin, kPurpose);
    received_edges_ = std::accumulate(receive_counts.begin(), receive_counts.end(), std::uint64_t{0});
    std::vector<std::uint64_t> instances;
    for (const OriginBatch& origin : origins_) instances.push_back(origin.count);
    const std::vector<std::uint64_t> own_counts(origins_.size(), origins_[own()].count);
    agree_on_memory(&ranks_, [&] {
      counts_.reserve(device_, origins_.size() * origins_[own()].count, kPurpose);
      edges_.reserve(device_, received_edges_, kPurpose);
    });
    exchange({found.counts, counts_.data(), sizeof(std::uint64_t)}, instances, own_counts, found.stream);
    exchange({found.edges, edges_.data(), sizeof(Edge)}, found.by_origin, receive_counts, found.stream);
    stats_.entries_sent += std::accumulate(found.by_origin.begin(), found.by_origin.end(), std::uint64_t{0}) -
                           found.by_origin[own()];
    stats_.entries_received += received_edges_ - receive_counts[own()];
  }

  // Edges received from all ranks, in device memory, in order of the rank that found them.
  /// [ranks][instances of this rank] number of edges of each instance
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
  std::uint64_t received_edges_ = 0;
  Buffer<std::uint64_t> counts_;
  Buffer<Edge> edges_;
  Router router_;  ///< last: destroyed first, to abort transfers that other ranks may never join
};

}  // namespace sluice::samples

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

/// Edges of the instances of a batch, in device memory.
struct NodeEdges {
  Buffer<std::uint64_t> counts;  ///< edges of each instance
  Buffer<Edge> edges;            ///< the edges, instance by instance

  std::uint64_t bytes() const { return counts.bytes() + edges.bytes(); }
};

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

  /// Calls find(), whose work on `stream` fills in `found`, the edges that this rank finds of all ranks'
  /// instances, in order of rank; it returns their number by origin rank. Then sends every instance's edges
  /// to its origin rank. All ranks call it. Throws BudgetError on all of them if find() does on one, or if
  /// received edges do not fit.
  template <class Find>
  void send_to_origins(const NodeEdges& found, void* stream, const Find& find) {
    std::vector<std::uint64_t> by_origin(origins_.size());
    const auto receive_counts =
        router_.exchange_counts_after([&] { by_origin = find(); }, by_origin, kPurpose);
    const std::uint64_t edges = std::reduce(receive_counts.begin(), receive_counts.end());
    std::vector<std::uint64_t> instances;
    for (const OriginBatch& origin : origins_) instances.push_back(origin.count);
    const std::vector<std::uint64_t> own_counts(origins_.size(), origins_[own()].count);
    agree_on_memory(&ranks_, [&] {
      received_.counts.reserve(device_, origins_.size() * origins_[own()].count, kPurpose);
      received_.edges.reserve(device_, edges, kPurpose);
    });
    exchange({found.counts.data(), received_.counts.data(), sizeof(std::uint64_t)}, instances, own_counts,
             stream);
    exchange({found.edges.data(), received_.edges.data(), sizeof(Edge)}, by_origin, receive_counts, stream);
    stats_.entries_sent += std::reduce(by_origin.begin(), by_origin.end()) - by_origin[own()];
    stats_.entries_received += edges - receive_counts[own()];
  }

  /// Edges of this rank's instances, [ranks][instances], in order of the rank that found them.
  const NodeEdges& received() const { return received_; }
  std::size_t ranks() const { return origins_.size(); }

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
  NodeEdges received_;
  Router router_;  ///< last: destroyed first, to abort transfers that other ranks may never join
};

}  // namespace sluice::samples

// Queries on ranks that share out the graph, as threads of this process.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "exchange/thread_ranks.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {

struct OnRanks {
  KeptRows rows;  ///< of all ranks, in order
  std::vector<ppr::Stats> stats;
  std::uint64_t peak = 0;  ///< the largest of the ranks' device memory

  /// The number of lists or walks that ranks requested; expects as many answers.
  std::uint64_t asked() const {
    std::uint64_t asked = 0, answered = 0;
    for (const ppr::Stats& some : stats)
      asked += some.traffic.requests_sent, answered += some.traffic.requests_received;
    EXPECT_EQ(asked, answered);
    return asked;
  }
};

/// The run of a rank, with its share of the queries.
using RunOfRank = std::function<ppr::Stats(std::size_t rank, const Device& device, const ppr::Options& own,
                                           KeptRows& rows, const PagingOptions& shard)>;
using OpenDevice = std::function<std::unique_ptr<const Device>()>;

inline OnRanks on_ranks(int size, const Graph& graph, const Starts& starts, const ppr::Options& options,
                        const PagingOptions& paging, const OpenDevice& open, const RunOfRank& run) {
  const auto count = static_cast<std::size_t>(size);
  OnRanks all;
  all.stats.resize(count);
  std::vector<KeptRows> rows(count);
  std::vector<std::uint64_t> peaks(count);
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    const auto at = static_cast<std::size_t>(rank);
    const auto device = open();
    ppr::Options own = options;
    const Instance queries = starts.instances(graph.vertices());
    own.first_instance = queries * at / count, own.last_instance = queries * (at + 1) / count;
    PagingOptions shard = paging;
    shard.shard = &ranks;
    all.stats[at] = run(at, *device, own, rows[at], shard);
    peaks[at] = device->memory().peak();
  });
  all.rows = joined(rows);
  all.peak = *std::ranges::max_element(peaks);
  return all;
}

/// Runs on the host; each rank has `memory` bytes.
inline OnRanks on_ranks(int size, const Graph& graph, const Starts& starts, const ppr::Options& options,
                        const PagingOptions& paging = {}, std::uint64_t memory = 0, RunOfRank run = nullptr) {
  if (!run) {
    run = [&](std::size_t, const Device& device, const ppr::Options& own, KeptRows& rows,
              const PagingOptions& shard) { return run_ppr(device, graph, starts, own, rows, shard); };
  }
  return on_ranks(
      size, graph, starts, options, paging,
      [memory] {
        return std::make_unique<const Device>(DeviceOptions{DeviceChoice::host, 1, memory});
      },
      run);
}

}  // namespace sluice::test

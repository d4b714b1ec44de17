// Samples over ranks that each own a range of partitions: the rank that owns an entry's list expands it, and
// sends the edges back to the instance's origin rank, which keeps the set of visited vertices. Requests and
// answers are columns of levels, which selections read and write in place; so they do not use
// list_requests.hpp, whose questions and answers are single values.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/level_bodies.hpp"
#include "engine/samples/partitioned/level_selector.hpp"
#include "engine/samples/partitioned/owner_requests.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::samples {

template <class Levels>
class LevelRanks {
  using Program = typename Levels::Program;
  using Requests = OwnerRequests<typename Levels::Exec>;

 public:
  LevelRanks(Communicator& ranks, DeviceRanks* link, const Device& device, Levels& levels,
             LevelSelector<Levels>& selector, const PartitionCache& cache, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        levels_(levels),
        selector_(selector),
        lowest_(device, 1, kSampleBatch),
        edge_counts_(static_cast<std::size_t>(ranks.size())),
        requests_(ranks, link, device, levels.executor(), cache.plan().partitions, stats,
                  Router::kPieceBytes) {}

  /// Begins a batch, in which this rank's part is `batch`; all ranks call it.
  void begin(const OriginBatch& batch) { batches_ = gather_batches(ranks_, batch); }

  /// As LevelSelector::select, for a level whose lists any rank may own; all ranks call it. Throws
  /// BudgetError on all ranks or on none.
  void select(SampleLevel& level, std::uint32_t depth) {
    requests_.begin([&] { pack(level); });
    agree_on_memory(&ranks_, [&] {
      remote_.entries = requests_.total_received();
      reserve_entries(remote_, remote_.entries);
    });
    requests_.send_questions(entry_columns());
    const Counts receive_counts = requests_.answer_counts_after([&] { expand(depth); }, edge_counts_);
    agree_on_memory(&ranks_, [&] { reserve_edges(Requests::sum_of(receive_counts)); });
    requests_.send_answers({{sizes_.data(), received_sizes_.data(), sizeof(std::uint32_t)}});
    requests_.send_answers(edge_columns(), edge_counts_, receive_counts);
    agree_on_memory(&ranks_, [&] { store_edges(level); });
  }

  std::uint64_t bytes() const {
    return requests_.bytes() + outgoing_.bytes() + remote_.bytes() + received_.bytes() + sizes_.bytes() +
           received_sizes_.bytes() + begins_.bytes();
  }

 private:
  using Counts = typename Requests::Counts;

  void reserve_entries(SampleLevel& level, std::uint64_t entries) const {
    level.frontier.reserve(device_, entries, kSampleBatch);
    if constexpr (Program::kDynamic) level.parents.reserve(device_, entries, kSampleBatch);
  }
  void reserve_edges(std::uint64_t edges) {
    received_sizes_.reserve(device_, requests_.total_sent(), kSampleBatch);
    received_.indices.reserve(device_, edges, kSampleBatch);
    received_.targets.reserve(device_, edges, kSampleBatch);
    if constexpr (Program::kUpdates) received_.arrivals.reserve(device_, edges, kSampleBatch);
  }
  typename Requests::Columns entry_columns() const {
    typename Requests::Columns columns{
        {outgoing_.frontier.data(), remote_.frontier.data(), sizeof(FrontierEntry)}};
    if constexpr (Program::kDynamic)
      columns.push_back({outgoing_.parents.data(), remote_.parents.data(), sizeof(Vertex)});
    return columns;
  }
  typename Requests::Columns edge_columns() const {
    typename Requests::Columns columns{
        {remote_.indices.data(), received_.indices.data(), sizeof(std::uint32_t)},
        {remote_.targets.data(), received_.targets.data(), sizeof(Vertex)}};
    if constexpr (Program::kUpdates)
      columns.push_back({remote_.arrivals.data(), received_.arrivals.data(), sizeof(Vertex)});
    return columns;
  }

  /// Orders the entries whose lists are not empty by the owners of these lists.
  void pack(const SampleLevel& level) {
    const FrontierEntry* const frontier = level.frontier.data();
    const std::uint64_t packed =
        requests_.order(level.entries, WaitingEntries{levels_.program().graph, frontier, nullptr});
    reserve_entries(outgoing_, packed);
    levels_.executor().for_each(packed, {},
                                GatherEntries{requests_.items(), frontier, level.parents.data(),
                                              outgoing_.frontier.data(), outgoing_.parents.data()});
  }

  /// Selects the edges of the entries that all ranks sent to this one.
  void expand(std::uint32_t depth) {
    auto& executor = levels_.executor();
    const Counts& counts = requests_.received();
    const JoinedOrigins joined = join_origins(batches_, counts);
    FrontierEntry* frontier = remote_.frontier.data();
    for (std::size_t origin = 0; origin < counts.size(); frontier += counts[origin++])
      if (joined.shifts[origin] != 0)
        executor.for_each(counts[origin], {}, ShiftInstances{frontier, joined.shifts[origin]});
    selector_.select(remote_, depth, joined.origins);
    sizes_.reserve(device_, remote_.entries, kSampleBatch);
    executor.for_each(remote_.entries, {}, EntrySizes{remote_.offsets.data(), sizes_.data()});
    edge_counts_ = requests_.answers_by_rank(remote_.offsets.data(), counts);
  }

  /// Copies the received edges into the order of the level's entries.
  void store_edges(SampleLevel& level) {
    auto& executor = levels_.executor();
    const std::uint64_t packed = requests_.total_sent();
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    begins_.reserve(device_, packed + 1, kSampleBatch);
    executor.fill(level.offsets.data(), 0, level.entries * sizeof(std::uint64_t));
    executor.fill(lowest_.data(), 0xff, lowest_.bytes());
    executor.for_each(
        packed, {.lowest = lowest_.data()},
        ScatterSizes{received_sizes_.data(), requests_.items(), level.offsets.data(), begins_.data()});
    executor.exclusive_sum(begins_.data(), packed);
    level.edges = executor.exclusive_sum(level.offsets.data(), level.entries);
    levels_.reserve_edges(level);
    std::uint64_t lowest = 0;
    executor.read(&lowest, lowest_.data(), 1, "samples");
    levels_.set_largest(~lowest);
    executor.template for_each_group<NoCounters>(
        packed, Groups::warps_then_blocks,
        ScatterEdges{requests_.items(), begins_.data(), level.offsets.data(), EdgeColumns(received_),
                     EdgeColumns(level)});
  }

  Communicator& ranks_;
  const Device& device_;
  Levels& levels_;
  LevelSelector<Levels>& selector_;
  std::vector<OriginBatch> batches_;          ///< by rank
  SampleLevel outgoing_;                      ///< entries that this rank sends, by owner of their lists
  SampleLevel remote_;                        ///< entries that this rank expands, by origin rank
  SampleLevel received_;                      ///< received edges of the entries in outgoing_
  Buffer<std::uint32_t> sizes_, received_sizes_;  ///< edges of each entry in remote_, and in outgoing_
  Buffer<std::uint64_t> begins_;                  ///< first edge in received_ of each entry in outgoing_
  Buffer<unsigned long long> lowest_;         ///< complement of the most edges received for one entry
  Counts edge_counts_;                        ///< edges of all entries in remote_, by origin rank
  Requests requests_;
};

}  // namespace sluice::samples

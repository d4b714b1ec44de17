// Samples over ranks that each own a range of partitions: every entry of a depth is expanded by the rank that
// owns its list, and the edges come back to the instance's origin rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/exchange/wire.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/level_select.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::host {

template <class Program>
class SampleOwners {
 public:
  SampleOwners(Communicator& ranks, const Device& device, const Program& program, PartitionCache& cache,
               LevelSelector<Program>& selector, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        program_(program),
        selector_(selector),
        stats_(stats),
        owners_(owners_of_vertices(ranks, cache.plan().partitions)) {}

  /// A batch begins, here with `batch`.
  void begin(const OriginBatch& batch) { batches_ = gather_batches(ranks_, batch); }

  /// As LevelSelector::select, for a level whose lists are anywhere; all ranks call it. Throws BudgetError on
  /// all of them, or on none.
  void select(SampleLevel& level, std::uint32_t depth) {
    Wire<FrontierEntry> entries;
    Wire<Vertex> parents;
    Wire<std::uint32_t> sizes, indices;
    Wire<Vertex> targets, arrivals;
    together(&ranks_, [&] {
      pack(level);
      sizes.reserve(packed_.entries, kEdges);
    });
    const std::uint64_t remote = count_remote();
    together(&ranks_, [&] {
      entries.reserve(remote, kEntries);
      if constexpr (Program::kDynamic) parents.reserve(remote, kEntries);
    });
    entries.exchange(ranks_, {packed_.frontier.data(), packed_.entries}, counts_, kEntries);
    if constexpr (Program::kDynamic)
      parents.exchange(ranks_, {packed_.parents.data(), packed_.entries}, counts_, kEntries);
    together(&ranks_, [&] {
      const JoinedOrigins joined = join_origins(batches_, entries.counts());
      receive(entries, parents, joined.shifts);
      selector_.select(remote_, depth, joined.origins);
      measure(entries.counts());
    });
    stats_.entries_sent += packed_.entries - counts_[own()];
    stats_.entries_received += remote_.entries - entries.counts()[own()];

    sizes.exchange(ranks_, {sizes_.data(), remote_.entries}, entries.counts(), kEdges);
    together(&ranks_, [&] {
      place_sizes(level, sizes.values());
      indices.reserve(level.edges, kEdges);
      targets.reserve(level.edges, kEdges);
      if constexpr (Program::kUpdates) arrivals.reserve(level.edges, kEdges);
    });
    indices.exchange(ranks_, {remote_.indices.data(), remote_.edges}, edge_counts_, kEdges);
    targets.exchange(ranks_, {remote_.targets.data(), remote_.edges}, edge_counts_, kEdges);
    if constexpr (Program::kUpdates)
      arrivals.exchange(ranks_, {remote_.arrivals.data(), remote_.edges}, edge_counts_, kEdges);
    place(indices.values(), level, level.indices);
    place(targets.values(), level, level.targets);
    if constexpr (Program::kUpdates) place(arrivals.values(), level, level.arrivals);
  }

  std::uint64_t bytes() const {
    return order_.bytes() + packed_.bytes() + remote_.bytes() + sizes_.bytes() + begins_.bytes();
  }

 private:
  static constexpr const char* kEntries = "entries from other ranks";
  static constexpr const char* kEdges = "edges from other ranks";
  static constexpr std::uint64_t kGrain = 1024;

  std::size_t origins() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  /// Orders the entries that have a list by the rank that owns it.
  void pack(const SampleLevel& level) {
    const FrontierEntry* const frontier = level.frontier.data();
    const auto has_list = [&](std::uint64_t at) { return program_.graph.degree(frontier[at].vertex) > 0; };
    const auto rank_of = [&](std::uint64_t at) { return owners_.owner(frontier[at].vertex); };
    counts_.assign(origins(), 0);
    for (std::uint64_t at = 0; at < level.entries; ++at)
      if (has_list(at)) ++counts_[rank_of(at)];
    std::vector<std::uint64_t> next = counts_;
    next.push_back(0);
    packed_.entries = sum_up(next.data(), origins());
    order_.reserve(device_, packed_.entries, kSampleBatch);
    packed_.frontier.reserve(device_, packed_.entries, kSampleBatch);
    if constexpr (Program::kDynamic) packed_.parents.reserve(device_, packed_.entries, kSampleBatch);
    for (std::uint64_t at = 0; at < level.entries; ++at) {
      if (!has_list(at)) continue;
      const std::uint64_t to = next[rank_of(at)]++;
      order_.data()[to] = at;
      packed_.frontier.data()[to] = frontier[at];
      if constexpr (Program::kDynamic) packed_.parents.data()[to] = level.parents.data()[at];
    }
  }

  /// How many entries come from all ranks.
  std::uint64_t count_remote() {
    std::vector<std::uint64_t> come(origins());
    ranks_.swap(std::as_bytes(std::span(counts_)), std::as_writable_bytes(std::span(come)), kEntries);
    return std::reduce(come.begin(), come.end());
  }

  void receive(Wire<FrontierEntry>& entries, Wire<Vertex>& parents, std::span<const std::uint32_t> shifts) {
    remote_.entries = entries.values().size();
    remote_.frontier.reserve(device_, remote_.entries, kSampleBatch);
    std::uint64_t at = 0;
    for (std::size_t origin = 0; origin < origins(); ++origin) {
      for (const std::uint64_t end = at + entries.counts()[origin]; at < end; ++at) {
        FrontierEntry entry = entries.values()[at];
        entry.instance += shifts[origin];
        remote_.frontier.data()[at] = entry;
      }
    }
    if constexpr (Program::kDynamic) {
      remote_.parents.reserve(device_, remote_.entries, kSampleBatch);
      std::ranges::copy(parents.values(), remote_.parents.data());
    }
  }

  /// How many edges each remote entry has, and how many go to each origin rank.
  void measure(std::span<const std::uint64_t> by_origin) {
    const std::uint64_t* const offsets = remote_.offsets.data();
    sizes_.reserve(device_, remote_.entries, kSampleBatch);
    for (std::uint64_t at = 0; at < remote_.entries; ++at)
      sizes_.data()[at] = static_cast<std::uint32_t>(offsets[at + 1] - offsets[at]);
    edge_counts_.clear();
    std::uint64_t begin = 0;
    for (const std::uint64_t count : by_origin) {
      edge_counts_.push_back(offsets[begin + count] - offsets[begin]);
      begin += count;
    }
  }

  /// `sizes` are those of the packed entries, as their edges will come.
  void place_sizes(SampleLevel& level, std::span<const std::uint32_t> sizes) {
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    begins_.reserve(device_, packed_.entries + 1, kSampleBatch);
    std::fill_n(level.offsets.data(), level.entries, 0);
    for (std::uint64_t i = 0; i < packed_.entries; ++i)
      level.offsets.data()[order_.data()[i]] = begins_.data()[i] = sizes[i];
    sum_up(begins_.data(), packed_.entries);
    level.edges = sum_up(level.offsets.data(), level.entries);
    level.reserve_edges(device_, Program::kUpdates);
  }

  /// Brings a column of edges into the order of the level's entries.
  template <class T>
  void place(std::span<const T> came, const SampleLevel& level, const Buffer<T>& column) {
    parallel_blocks(device_.threads(), packed_.entries, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      for (std::uint64_t i = from; i < to; ++i) {
                        const std::uint64_t begin = begins_.data()[i], end = begins_.data()[i + 1];
                        std::ranges::copy(came.subspan(begin, end - begin),
                                          column.data() + level.offsets.data()[order_.data()[i]]);
                      }
                    });
  }

  Communicator& ranks_;
  const Device& device_;
  const Program& program_;
  LevelSelector<Program>& selector_;
  RunStats& stats_;
  Ownership owners_;                        ///< ranks that own vertices
  std::vector<OriginBatch> batches_;        ///< by rank
  SampleLevel packed_;                      ///< entries only, by the rank that owns their list
  Buffer<std::uint64_t> order_;             ///< which entries of the level those are
  Buffer<std::uint64_t> begins_;            ///< edges before those of each, as they come
  std::vector<std::uint64_t> counts_;       ///< of them, by rank
  SampleLevel remote_;                      ///< what this rank expands
  Buffer<std::uint32_t> sizes_;             ///< edges of each remote entry
  std::vector<std::uint64_t> edge_counts_;  ///< of all remote entries, by rank
};

}  // namespace sluice::host

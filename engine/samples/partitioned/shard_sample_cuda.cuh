// The GPU's side of samples over ranks that each own a range of partitions: every entry of a depth is
// expanded by the rank that owns its list, and the edges come back to the instance's origin rank, which keeps
// the filter of visited vertices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/batch/sink.hpp"
#include "engine/exchange/router.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/samples/partitioned/sample_cuda.cuh"
#include "engine/samples/partitioned/sample_origins.hpp"
#include "engine/samples/partitioned/shard_sample_kernels.cuh"

namespace sluice::cuda {

/// What a run gives its grower.
template <class Program>
struct ShardSampleSetup : PagedSampleSetup<Program> {
  DeviceRanks* link;  ///< null: what ranks hand each other goes through their hosts
  bool collects;      ///< does anybody want the samples?
};

template <class Program>
class ShardGrower : public PagedGrower<Program> {
 public:
  ShardGrower(const ShardSampleSetup<Program>& setup, PartitionCache& cache)
      : Base(setup, cache),
        ranks_(*setup.graph.paging.shard),
        collects_(setup.collects),
        sent_(origins()),
        edge_counts_(origins()),
        bounds_(device_, origins() + 1, "counts of edges"),
        router_(ranks_, device_, setup.link) {}

  /// All ranks together; they also agree that what was grown fits on its way to the sink.
  void grow(Instance first, std::uint64_t count) {
    batches_ = gather_batches(ranks_, {first, count});
    Base::grow(first, count);
    together([&] {
      if (collects_ && count > 0) store_ = this->collect(first, count);
    });
  }
  void emit(Instance, std::uint64_t, SampleSink& sink, BatchWriter& writer) {
    this->submit(std::move(store_), sink, writer);
  }

  std::uint64_t bytes() const {
    return Base::bytes() + remote_.bytes() + leaving_.bytes() + leaving_parents_.bytes() + order_.bytes() +
           begins_.bytes() + sizes_.bytes() + came_sizes_.bytes() + came_indices_.bytes() +
           came_targets_.bytes() + came_arrivals_.bytes();
  }

 protected:
  using Base = PagedGrower<Program>;
  using Base::device_, Base::kPurpose, Base::cache_, Base::memory_, Base::places_, Base::program_,
      Base::stats_, Base::stream_;

  void together(const std::function<void()>& body) override { sluice::together(&ranks_, body); }
  bool any(std::uint64_t entries) override { return any_left(&ranks_, entries, "samples under way"); }

  void select(std::uint32_t depth) override {
    Level& now = this->level();
    const auto remote = router_.counts_after([&] { pack(now); }, sent_, kEntries);
    together([&] { expect(remote); });
    exchange(entry_columns(), sent_, remote, kEntries);
    stats_.entries_sent += packed_ - sent_[own()];
    stats_.entries_received += remote_.entries - remote[own()];

    const auto edges = router_.counts_after([&] { select_remote(remote, depth); }, edge_counts_, kEdges);
    together([&] { expect_edges(std::accumulate(edges.begin(), edges.end(), std::uint64_t{0})); });
    exchange({{sizes_.data(), came_sizes_.data(), sizeof(std::uint32_t)}}, remote, sent_, kEdges);
    exchange(edge_columns(), edge_counts_, edges, kEdges);
    together([&] { place(now); });
  }

 private:
  static constexpr const char* kEntries = "entries from other ranks";
  static constexpr const char* kEdges = "edges from other ranks";
  using Counts = std::vector<std::uint64_t>;
  using Columns = std::vector<RoutedColumn>;

  std::size_t origins() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  void exchange(const Columns& columns, const Counts& send, const Counts& receive, const char* label) {
    stats_.exchange_seconds += router_.send(columns, send, receive, stream_.get(), label);
  }
  Columns entry_columns() const {
    Columns columns{{leaving_.data(), remote_.frontier.data(), sizeof(FrontierEntry)}};
    if constexpr (Program::kDynamic)
      columns.push_back({leaving_parents_.data(), remote_.parents.data(), sizeof(Vertex)});
    return columns;
  }
  Columns edge_columns() const {
    Columns columns{{remote_.indices.data(), came_indices_.data(), sizeof(std::uint32_t)},
                    {remote_.targets.data(), came_targets_.data(), sizeof(Vertex)}};
    if constexpr (Program::kUpdates)
      columns.push_back({remote_.arrivals.data(), came_arrivals_.data(), sizeof(Vertex)});
    return columns;
  }

  /// Orders the entries that have a list by the rank that owns it: ranks own partitions one behind the other.
  void pack(const Level& now) {
    packed_ = 0;
    std::ranges::fill(sent_, 0);
    if (now.entries == 0) return;
    this->queue(now, nullptr);
    std::swap(memory_.order, order_);
    packed_ = places_.back();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const OwnedPartitions theirs = OwnedPartitions::of(cache_.partitions(), rank, ranks_.size());
      sent_[static_cast<std::size_t>(rank)] = places_[theirs.end] - places_[theirs.begin];
    }
    leaving_.reserve(device_, packed_, kPurpose);
    if constexpr (Program::kDynamic) leaving_parents_.reserve(device_, packed_, kPurpose);
    this->launch("take_entries_kernel", take_entries_kernel, packed_, view_of(now), order_.data(), packed_,
                 leaving_.data(), leaving_parents_.data());
  }

  void expect(const Counts& counts) {
    remote_.entries = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (remote_.entries >= 0xffffffffu)
      throw BudgetError("device memory: ranks have too many entries for one of them");
    remote_.frontier.reserve(device_, remote_.entries, kPurpose);
    if constexpr (Program::kDynamic) remote_.parents.reserve(device_, remote_.entries, kPurpose);
  }

  void select_remote(const Counts& counts, std::uint32_t depth) {
    std::ranges::fill(edge_counts_, 0);
    remote_.edges = 0;
    if (remote_.entries == 0) return;
    const JoinedOrigins joined = join_origins(batches_, counts);
    std::uint64_t at = 0;
    for (std::size_t origin = 0; origin < origins(); at += counts[origin++]) {
      if (counts[origin] == 0 || joined.shifts[origin] == 0) continue;
      this->launch("shift_instances_kernel", shift_instances_kernel, counts[origin],
                   remote_.frontier.data() + at, counts[origin], joined.shifts[origin]);
    }
    this->select_present(remote_, depth, joined.origins);
    sizes_.reserve(device_, remote_.entries, kPurpose);
    this->launch("entry_sizes_kernel", entry_sizes_kernel, remote_.entries, remote_.offsets.data(),
                 remote_.entries, sizes_.data());
    count_edges(counts);
  }

  /// How many edges go to each origin rank.
  void count_edges(const Counts& counts) {
    std::uint64_t at = 0;
    for (std::size_t origin = 0; origin <= origins(); ++origin) {
      check(cudaMemcpyAsync(bounds_.data() + origin, remote_.offsets.data() + at, sizeof(std::uint64_t),
                            cudaMemcpyDeviceToHost, stream_.get()),
            "reading a count");
      if (origin < origins()) at += counts[origin];
    }
    stream_.wait("samples");
    for (std::size_t origin = 0; origin < origins(); ++origin)
      edge_counts_[origin] = bounds_.data()[origin + 1] - bounds_.data()[origin];
  }

  /// Takes memory for the edges of the packed entries.
  void expect_edges(std::uint64_t edges) {
    came_sizes_.reserve(device_, packed_, kPurpose);
    came_indices_.reserve(device_, edges, kPurpose);
    came_targets_.reserve(device_, edges, kPurpose);
    if constexpr (Program::kUpdates) came_arrivals_.reserve(device_, edges, kPurpose);
  }

  /// Brings what came into the order of the level's entries.
  void place(Level& now) {
    now.fanout = 0;
    LevelFacts* const facts = this->clear_facts();
    now.offsets.reserve(device_, now.entries + 1, kPurpose);
    begins_.reserve(device_, packed_ + 1, kPurpose);
    check(cudaMemsetAsync(now.offsets.data(), 0, now.offsets.bytes(), stream_.get()), "clearing sizes");
    this->launch("take_sizes_kernel", take_sizes_kernel, packed_, came_sizes_.data(), packed_, order_.data(),
                 now.offsets.data(), begins_.data(), facts);
    exclusive_sum(device_, begins_.data(), begins_.data(), packed_, memory_.scan, stream_.get());
    this->sum_sizes(now);
    this->reserve_edges(now);
    if constexpr (Program::kUpdates) now.arrivals.reserve(device_, now.edges, kPurpose);
    this->find_bounds(now);
    if (now.edges == 0) return;
    this->launch("take_edges_kernel", take_edges_kernel, now.edges, view_of(now), begins_.data(), packed_,
                 order_.data(), came_indices_.data(), came_targets_.data(), came_arrivals_.data());
  }

  Communicator& ranks_;
  bool collects_;
  std::vector<OriginBatch> batches_;    ///< by rank
  std::shared_ptr<SampleStore> store_;  ///< the batch's samples
  std::uint64_t packed_ = 0;            ///< entries of this rank that have a list
  Counts sent_;                         ///< of them, by the rank that owns it
  Buffer<std::uint32_t> order_;         ///< which entries of the level those are
  Buffer<FrontierEntry> leaving_;       ///< those
  Buffer<Vertex> leaving_parents_;      ///< dynamic samplers: where they came from
  Level remote_;                        ///< what this rank expands, by origin rank
  Counts edge_counts_;                  ///< of all remote entries, by origin rank
  Staging<std::uint64_t> bounds_;       ///< edges before those of each origin rank
  Buffer<std::uint32_t> sizes_;         ///< edges of each remote entry
  Buffer<std::uint64_t> begins_;        ///< edges before those of each packed entry, as they come
  Buffer<std::uint32_t> came_sizes_, came_indices_;
  Buffer<Vertex> came_targets_, came_arrivals_;
  Router router_;  ///< goes first, for others may not come any more
};

}  // namespace sluice::cuda

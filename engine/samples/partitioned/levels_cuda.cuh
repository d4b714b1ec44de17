// A GPU's levels of samples on a graph in partitions. The entries that wait for one partition form a small
// level, on which the kernels for whole graphs work.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/schedule/balance.hpp"
#include "engine/samples/collect.hpp"
#include "engine/samples/levels_cuda.cuh"
#include "engine/samples/partitioned/level_grower.hpp"

namespace sluice::samples::cuda {

/// Computes how many edges each listed entry selects.
struct SizesOfListed {
  LevelView level;
  ListedEntries entries;
  std::uint64_t* sizes;

  __device__ void operator()(std::uint64_t item, CudaLane&) const {
    const std::uint64_t entry_id = entries[item];
    sizes[item] = level.offsets[entry_id + 1] - level.offsets[entry_id];
  }
};

/// Calls the sampler's update for the edges of listed entries: one group per entry.
template <class Program>
struct UpdateOnPage {
  Program program;
  LevelView level;
  ListedEntries entries;
  std::uint32_t depth;

  template <class Group, class Counters>
  __device__ bool operator()(const Group& group, std::uint64_t item, Counters&) const {
    const std::uint64_t entry_id = entries[item];
    const FrontierEntry entry = level.frontier[entry_id];
    const Vertex parent = Program::kDynamic ? level.parents[entry_id] : kNoVertex;
    for (std::uint64_t e = level.offsets[entry_id] + group.rank(); e < level.offsets[entry_id + 1];
         e += Group::kSize) {
      const Edge selected{entry.vertex, level.targets[e], level.position(program.graph, entry.vertex, e)};
      level.arrivals[e] = program.arrival(program.expansion(entry, depth, parent), selected);
    }
    return true;
  }
};

/// Sums the bytes that listed entries read from a partition that is read in place.
template <class Program>
struct AddReadBytes {
  Program program;
  LevelView level;
  ListedEntries entries;

  __device__ void operator()(std::uint64_t item, CudaLane& lane) const {
    const std::uint64_t entry_id = entries[item],
                        edges = level.offsets[entry_id + 1] - level.offsets[entry_id];
    lane.add(0, read_bytes(program, level.frontier[entry_id].vertex, edges));
  }
};

/// Levels of a batch. It owns its workspace, which is freed with the slots: a new plan can use the memory.
template <class P>
class Levels<P, Partitioned> : private LevelsWorkspace, public BatchLevels<P> {
 public:
  using Program = P;
  using Exec = CudaExecutor;

  Levels(const LevelSetup<Program>& setup, PartitionCache& cache)
      : LevelsWorkspace(setup.graph.device),
        Base(setup, static_cast<LevelsWorkspace&>(*this)),
        cache_(cache),
        graph_(setup.graph),
        in_place_bytes_(setup.graph.device, LaneOutput::kSums, "counters") {
    memory_.clashes.reserve(device_, kMaxStreams, "counters");
    executor_.fill(in_place_bytes_.data(), 0, in_place_bytes_.bytes());
  }

  CudaExecutor& executor() { return executor_; }
  void reserve_edges(SampleLevel& level) { Base::reserve_edges(level, Program::kUpdates); }
  /// Sets the most edges of one entry.
  void set_largest(std::uint64_t largest) { memory_.host_summary.data()->largest = largest; }

  /// Allocates what the selections of a level need on all partitions, before the first of them.
  void begin_select(const LevelTask& task, const OrderedItems& order) {
    memory_.clashing.reserve(device_, order.size(), kSampleBatch);
    if (!Program::kDynamic && largest() > kTilePicks) {
      memory_.listed_begins.reserve(device_, order.size() + 1, kSampleBatch);
      std::uint64_t* const begins = memory_.listed_begins.data();
      executor_.for_each(order.size(), {},
                         SizesOfListed{view_of(task.level), {order.items.data(), order.size()}, begins});
      exclusive_sum(device_, begins, begins, order.size(), memory_.scan, stream_.get());
    }
    launches_.reserve(program_, largest());
    prepared_ = &task.level;
  }

  void work(const std::list<QueuedLevel>& queued, std::span<const std::uint32_t> present) {
    for (const QueuedLevel& level : queued) {
      const bool other = queued.size() > 1 || prepared_ != &level.task.level;
      if (level.task.work == LevelWork::select && other) begin_select(level.task, level.order);
      work(level.task, level.order, present);
    }
  }

  /// Waits for the batch and adds its counters to the run's statistics.
  void finish() {
    Base::finish();
    std::uint64_t in_place_bytes = 0;
    executor_.read(&in_place_bytes, in_place_bytes_.data(), 1, "samples");
    executor_.fill(in_place_bytes_.data(), 0, in_place_bytes_.bytes());
    stats_.mapped_bytes += in_place_bytes;
  }

  /// Copies the batch's samples to the host. Throws BudgetError.
  void collect(Instance first, std::uint64_t count) {
    if (count == 0) return;
    store_ = std::make_shared<SampleStore>();
    Base::collect(first, count, *store_);
  }
  void write_results(Instance, std::uint64_t, SampleSink& sink, BatchWriter& writer) {
    writer.submit([store = std::move(store_), &sink] { sink.write(store->batch()); });
  }

  std::uint64_t bytes() const { return LevelsWorkspace::bytes(); }

 private:
  /// Works on the entries that wait for the present partitions: concurrently, in several streams. Partitions
  /// in other GPUs' memory follow one another: a GPU resolves few addresses there at a time (StretchOfEntry).
  void work(const LevelTask& task, const OrderedItems& order, std::span<const std::uint32_t> present) {
    const Program base = program_;
    const bool selects = task.work == LevelWork::select;
    const bool large = selects && Launches::needs_scratch(largest());
    const std::vector<Waiting> queues = waiting(order, present);
    const Balance balance = graph_.peers ? Balance::automatic : cache_.paging().balance;
    const std::vector<Share> shares = shares_for(queues, balance, large);
    const std::uint64_t* const begins = memory_.listed_begins.data();
    const bool timed = balance != Balance::automatic && queues.size() == shares.size();
    for (std::size_t stream = 0; stream < shares.size(); ++stream) streams_[stream].fork_from(stream_);
    std::vector<UpdateOnPage<Program>> arrivals;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      program_ = on_page(base, cache_.page(queues[i].partition));
      const std::size_t stream = i % shares.size();
      if (timed) streams_.start(stream);
      for (const LevelOrigin& batch : batches(task, order.items.data() + queues[i].begin, queues[i].size)) {
        program_.first = batch.first;
        const std::uint64_t begin = queues[i].begin + batch.begin;
        const ListedEntries entries{order.items.data() + begin, batch.end - batch.begin};
        if (!selects) {
          measure_listed(task, entries, streams_[stream], shares[stream].blocks);
          continue;
        }
        const LevelView level = view_of(task.level);
        launches_.template select<ListedEntries>(
            program_, {level, entries, task.depth, largest(), streams_[stream],
                       begins ? begins + begin : nullptr, memory_.clashes.data() + stream,
                       memory_.clashing.data() + begin, shares[stream].blocks, shares[stream].scratch});
        if constexpr (Program::kUpdates) arrivals.push_back({program_, level, entries, task.depth});
        if (cache_.in_place(queues[i].partition))
          executor_.for_each(entries.max_count, {.sums = in_place_bytes_.data()},
                             AddReadBytes<Program>{program_, level, entries});
      }
      if (timed) streams_.stop(stream);
    }
    streams_.wait("samples");
    arrive(arrivals);
    executor_.wait("samples");  // the slots may be overwritten
    if (large) launches_.throw_if_exhausted(stream_);
    if (timed) stats_.kernels.add(streams_.seconds(queues.size()));
    program_ = base;
  }

  using Base = BatchLevels<Program>;
  using Launches = SelectLaunches<Program>;
  using Base::device_, Base::executor_, Base::memory_, Base::program_, Base::stats_, Base::stream_,
      Base::launches_, Base::largest;
  /// Streams; more partitions are not timed.
  static constexpr std::size_t kMaxStreams = SideStreams::kMaxStreams;

  void measure_listed(const LevelTask& task, const ListedEntries& entries, const Stream& stream,
                      unsigned max_blocks) {
    if constexpr (Program::kDynamic)
      launches_.launch("measure_kernel", stream, entries.max_count * 32, max_blocks,
                       measure_kernel<ListedEntries, Program>, program_, view_of(task.level), entries,
                       task.depth, task.level.offsets.data(), memory_.summary.data());
  }

  void arrive(std::span<const UpdateOnPage<Program>> arrivals) {
    std::vector<std::uint64_t> counts;
    for (const auto& each : arrivals) counts.push_back(each.entries.max_count);
    if constexpr (Program::kUpdates)
      executor_.template for_each_group_concurrently<NoCounters>(counts, Groups::warps,
                                                                 [&](std::size_t i) { return arrivals[i]; });
  }

  /// Entries that wait for one partition, or for adjacent partitions that are all read in place.
  struct Waiting {
    std::uint32_t partition;
    std::uint64_t begin, size;  ///< in order of partition
  };
  std::vector<Waiting> waiting(const OrderedItems& order, std::span<const std::uint32_t> present) const {
    std::vector<Waiting> queues;
    for (const std::uint32_t p : present) {
      const bool joins = !queues.empty() && cache_.in_place(p) && cache_.in_place(queues.back().partition) &&
                         order.begins[p] == queues.back().begin + queues.back().size;
      if (!joins) queues.push_back({p, order.begins[p], 0});
      queues.back().size += order.count(p);
    }
    return queues;
  }
  /// A stream's share of the device.
  struct Share {
    unsigned blocks = ~0u;  ///< most blocks of launches without scratch
    ScratchPart scratch = {};
  };
  /// Shares of as many streams as are useful: by work, or equal if balancing is off; no `blocks` if
  /// automatic.
  std::vector<Share> shares_for(std::span<const Waiting> queues, Balance balance, bool large) const {
    std::size_t streams = graph_.peers ? std::size_t{1} : kMaxStreams;
    if (large) streams = std::min<std::size_t>(streams, launches_.units());
    std::vector<std::uint64_t> sizes(std::min(queues.size(), streams));
    for (std::size_t i = 0; i < queues.size(); ++i) sizes[i % sizes.size()] += queues[i].size;
    std::vector<Share> shares(sizes.size());
    if (balance != Balance::automatic) {
      const std::vector<unsigned> blocks = shares_of(sizes, Launches::concurrent_blocks(), balance);
      for (std::size_t i = 0; i < shares.size(); ++i) shares[i].blocks = blocks[i];
    }
    if (large) {
      const bool even = balance == Balance::off;
      const std::vector<unsigned> units =
          shares_of(sizes, launches_.units(), even ? Balance::off : Balance::on);
      unsigned begin = 0;
      for (std::size_t i = 0; i < shares.size(); begin += units[i++]) shares[i].scratch = {begin, units[i]};
    }
    return shares;
  }

  /// Divides a partition's entries into launches: all entries together, or those of each origin rank, or,
  /// without batching, those of each instance.
  std::vector<LevelOrigin> batches(const LevelTask& task, const std::uint32_t* order, std::uint64_t count) {
    const bool per_instance = !cache_.paging().batching;
    if (!per_instance && task.origins.size() == 1) return {{task.origins[0].first, 0, count}};
    std::vector<FrontierEntry> entries(count);
    memory_.listed.reserve(device_, count, kSampleBatch);
    executor_.for_each(
        count, {}, GatherEntries{order, task.level.frontier.data(), nullptr, memory_.listed.data(), nullptr});
    executor_.wait("samples");
    copy_to_host(device_, entries.data(), memory_.listed.data(), count * sizeof(FrontierEntry));
    std::vector<std::uint32_t> listed(count);
    copy_to_host(device_, listed.data(), order, count * sizeof(std::uint32_t));
    std::vector<LevelOrigin> found;
    auto origin = task.origins.begin();
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool origin_ends = listed[i] >= origin->end;
      while (listed[i] >= origin->end) ++origin;
      const bool begins =
          i == 0 || origin_ends || (per_instance && entries[i].instance != entries[i - 1].instance);
      if (begins) found.push_back({origin->first, i, i});
      found.back().end = i + 1;
    }
    return found;
  }

  PartitionCache& cache_;
  ResidentGraph::Impl& graph_;
  Buffer<unsigned long long> in_place_bytes_;  ///< [0] bytes read in place
  const SampleLevel* prepared_ = nullptr;      ///< level of the last begin_select() call
  std::shared_ptr<SampleStore> store_;  ///< the batch's samples
  SideStreams streams_;                 ///< streams of partitions
};

}  // namespace sluice::samples::cuda

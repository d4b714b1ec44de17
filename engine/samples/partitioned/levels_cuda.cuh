// A GPU's depths of samples on a graph in partitions. The entries of one partition are a small depth of their
// own, which the kernels of graphs that are here as a whole work on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/schedule/balance.hpp"
#include "engine/samples/batch_grower.cuh"
#include "engine/samples/collect.hpp"
#include "engine/samples/partitioned/level_grower.hpp"
#include "engine/samples/partitioned/sample.hpp"

namespace sluice::samples::cuda {

/// Its memory goes with the slots, so that a new plan finds it free.
struct LevelsWorkspace {
  explicit LevelsWorkspace(const Device& device) : executor_(device, 0) {}

  SampleWorkspace workspace_;
  CudaExecutor executor_;
};

/// How many edges the entries select whose turn it is.
struct SizesOfListed {
  LevelView level;
  ListedEntries turns;
  std::uint64_t* sizes;

  __device__ void operator()(std::uint64_t turn, CudaLane&) const {
    const std::uint64_t at = turns[turn];
    sizes[turn] = level.offsets[at + 1] - level.offsets[at];
  }
};

/// Where the edges of listed entries lead, as the sampler's update says: a group an entry.
template <class Program>
struct ArriveOnPage {
  Program program;
  LevelView level;
  ListedEntries turns;
  std::uint32_t depth;

  template <class Group, class Counters>
  __device__ bool operator()(const Group& group, std::uint64_t turn, Counters&) const {
    const std::uint64_t at = turns[turn];
    const FrontierEntry from = level.frontier[at];
    const Vertex parent = Program::kDynamic ? level.parents[at] : kNoVertex;
    for (std::uint64_t e = level.offsets[at] + group.rank(); e < level.offsets[at + 1]; e += Group::kSize) {
      const Edge selected{from.vertex, level.targets[e], level.position(program.graph, from.vertex, e)};
      level.arrivals[e] = program.arrival(program.expansion(from, depth, parent), selected);
    }
    return true;
  }
};

/// Adds up what the listed entries of a partition that is read in place look at.
template <class Program>
struct AddReadBytes {
  Program program;
  LevelView level;
  ListedEntries turns;

  __device__ void operator()(std::uint64_t turn, CudaLane& lane) const {
    const std::uint64_t at = turns[turn], edges = level.offsets[at + 1] - level.offsets[at];
    lane.add(0, read_bytes(program, level.frontier[at].vertex, edges));
  }
};

template <class P>
class Levels : private LevelsWorkspace, public BatchGrower<P> {
 public:
  using Program = P;
  using Exec = CudaExecutor;

  Levels(const LevelSetup<Program>& setup, PartitionCache& cache)
      : LevelsWorkspace(setup.graph.device),
        Base(setup, workspace_, executor_.queue()),
        cache_(cache),
        graph_(setup.graph),
        read_(setup.graph.device, LaneOutput::kSums, "counters") {
    memory_.clashes.reserve(device_, kMostSides, "counters");
    executor_.fill(read_.data(), 0, read_.bytes());
  }

  CudaExecutor& executor() { return executor_; }
  /// Without edges: lists are read by on_page's.
  const Program& program() const { return program_; }

  void begin_measure(SampleLevel& level) {
    level.fanout = 0;
    this->clear_facts();
    if constexpr (Program::kDynamic) level.available.reserve(device_, level.entries, kSampleBatch);
  }
  /// How many edges the entries of an origin rank select, where that is known without their lists.
  void measure(SampleLevel& level, std::uint32_t depth, const LevelOrigin& origin) {
    const Instance first = std::exchange(program_.first, origin.first);
    LevelView view = view_of(level);
    view.entries = origin.end - origin.begin;
    view.frontier += origin.begin;
    if constexpr (Program::kDynamic) {
      view.parents += origin.begin, view.available += origin.begin;
      this->launch("measure_kernel", measure_kernel<AllEntries, Program>, view.entries * 32, program_, view,
                   AllEntries{view.entries}, depth, level.offsets.data() + origin.begin,
                   memory_.facts.data());
    } else {
      this->launch("size_kernel", size_kernel<Program>, view.entries, program_, view, depth,
                   level.offsets.data() + origin.begin, memory_.facts.data());
    }
    program_.first = first;
  }
  void sum_sizes(SampleLevel& level) {
    Base::sum_sizes(level);
    this->check_measure();
  }
  void reserve_edges(SampleLevel& level) { Base::reserve_edges(level, Program::kUpdates); }
  using BatchGrower<P>::find_bounds;
  /// The most edges of an entry.
  void note_largest(std::uint64_t largest) { memory_.host_facts.data()->largest = largest; }

  /// Works on the entries in order of partition that wait for those that are present: side by side, but for
  /// work that needs scratch. In other GPUs' memory one partition after another: a GPU finds few addresses
  /// there at once (StretchOfItem).
  void work(const LevelTask& task, const OrderedItems& order, std::span<const std::uint32_t> present) {
    const Program base = program_;
    const bool selects = task.work == LevelWork::select;
    const bool aside = selects && Launches::side_by_side(largest()) && graph_.peers == nullptr;
    if (selects) memory_.clashing.reserve(device_, order.size(), kSampleBatch);
    if (selects && largest() > kTilePicks)
      memory_.listed_begins.reserve(device_, order.size() + 1, kSampleBatch);
    const std::vector<Waiting> all = waiting(order, present);
    const Balance balance = aside ? cache_.paging().balance : Balance::automatic;
    const std::vector<unsigned> shares = shares_for(all, balance);
    const bool timed = balance != Balance::automatic && all.size() <= kMostSides;
    std::vector<ArriveOnPage<Program>> arrivals;
    for (std::size_t i = 0; i < all.size(); ++i) {
      program_ = on_page(base, cache_.page(all[i].partition));
      const std::uint32_t* const items = order.items.data() + all[i].begin;
      const std::size_t side = i % kMostSides;
      if (timed) sides_.start(side);
      for (const LevelOrigin& batch : batches(task, items, all[i].size)) {
        program_.first = batch.first;
        const ListedEntries turns{items + batch.begin, batch.end - batch.begin};
        if (!selects) {
          measure_listed(task, turns);
          continue;
        }
        const LevelView level = view_of(task.level);
        select_listed({level, turns, task.depth, largest(), aside ? sides_[side] : stream_,
                       memory_.listed_begins.data(), memory_.clashes.data() + side,
                       memory_.clashing.data() + all[i].begin + batch.begin, shares[i]});
        if constexpr (Program::kUpdates) arrivals.push_back({program_, level, turns, task.depth});
        if (cache_.in_place(all[i].partition))
          executor_.for_each(turns.most, {.sums = read_.data()},
                             AddReadBytes<Program>{program_, level, turns});
      }
      if (timed) sides_.stop(side);
    }
    sides_.wait("samples");
    arrive(arrivals);
    executor_.wait("samples");  // the slots may be filled anew
    if (selects && !aside) launches_.refuse_exhausted(stream_);
    if (timed) stats_.kernels.add(sides_.seconds(all.size()));
    program_ = base;
  }

  /// Adds what was counted to the run's figures.
  void finish() {
    Base::finish();
    std::uint64_t read = 0;
    executor_.read(&read, read_.data(), 1, "samples");
    executor_.fill(read_.data(), 0, read_.bytes());
    stats_.mapped_bytes += read;
    stats_.kernel_launches += executor_.launches() - std::exchange(counted_, executor_.launches());
  }

  /// Brings the batch's samples to the host. Throws BudgetError.
  void collect(Instance first, std::uint64_t count) {
    if (count == 0) return;
    store_ = std::make_shared<SampleStore>();
    collect_samples(graph_, workspace_, this->depths(), this->seeds(), first, count, *store_, stats_);
  }
  template <class Submit>
  void leave(Instance, std::uint64_t, const Submit& submit) {
    submit(std::move(store_));
  }

  std::uint64_t bytes() const { return workspace_.bytes() + executor_.order_bytes(); }

 private:
  using Base = BatchGrower<Program>;
  using Launches = SelectLaunches<Program>;
  using Base::device_, Base::memory_, Base::program_, Base::stats_, Base::stream_, Base::launches_;
  static constexpr std::size_t kMostSides = SideStreams::kMost;  ///< of partitions that are timed

  void measure_listed(const LevelTask& task, const ListedEntries& turns) {
    if constexpr (Program::kDynamic)
      this->launch("measure_kernel", measure_kernel<ListedEntries, Program>, turns.most * 32, program_,
                   view_of(task.level), turns, task.depth, task.level.offsets.data(), memory_.facts.data());
  }

  void select_listed(const Selection<ListedEntries>& some) {
    if (some.largest > kTilePicks) {
      executor_.for_each(some.turns.most, {},
                         SizesOfListed{some.level, some.turns, memory_.listed_begins.data()});
      exclusive_sum(device_, memory_.listed_begins.data(), memory_.listed_begins.data(), some.turns.most,
                    memory_.scan, stream_.get());
    }
    launches_.select(program_, some);
  }

  void arrive(std::span<const ArriveOnPage<Program>> arrivals) {
    std::vector<std::uint64_t> counts;
    for (const auto& each : arrivals) counts.push_back(each.turns.most);
    if constexpr (Program::kUpdates)
      executor_.template for_each_group_aside<NoCounters>(counts, Groups::warps,
                                                          [&](std::size_t i) { return arrivals[i]; });
  }

  /// Entries that wait for a partition, or for neighbours that are read in place.
  struct Waiting {
    std::uint32_t partition;
    std::uint64_t begin, size;  ///< in order of partition
  };
  std::vector<Waiting> waiting(const OrderedItems& order, std::span<const std::uint32_t> present) const {
    std::vector<Waiting> all;
    for (const std::uint32_t p : present) {
      const bool joins = !all.empty() && cache_.in_place(p) && cache_.in_place(all.back().partition) &&
                         order.begins[p] == all.back().begin + all.back().size;
      if (!joins) all.push_back({p, order.begins[p], 0});
      all.back().size += order.count(p);
    }
    return all;
  }
  /// Blocks for each.
  static std::vector<unsigned> shares_for(std::span<const Waiting> all, Balance balance) {
    if (balance == Balance::automatic) return std::vector<unsigned>(all.size(), ~0u);
    std::vector<std::uint64_t> sizes;
    for (const Waiting& each : all) sizes.push_back(each.size);
    return shares_of(sizes, Launches::blocks_side_by_side(), balance);
  }
  std::uint64_t largest() const { return memory_.host_facts.data()->largest; }

  /// What is worked on together of a partition's entries: all of them, or those of each origin rank, or of
  /// each instance.
  std::vector<LevelOrigin> batches(const LevelTask& task, const std::uint32_t* order, std::uint64_t count) {
    const bool each = !cache_.paging().batching;
    if (!each && task.origins.size() == 1) return {{task.origins[0].first, 0, count}};
    std::vector<FrontierEntry> entries(count);
    memory_.listed.reserve(device_, count, kSampleBatch);
    executor_.for_each(
        count, {}, TakeEntries{order, task.level.frontier.data(), nullptr, memory_.listed.data(), nullptr});
    executor_.wait("samples");
    copy_to_host(device_, entries.data(), memory_.listed.data(), count * sizeof(FrontierEntry));
    std::vector<std::uint32_t> listed(count);
    copy_to_host(device_, listed.data(), order, count * sizeof(std::uint32_t));
    std::vector<LevelOrigin> found;
    auto origin = task.origins.begin();
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool leaves = listed[i] >= origin->end;
      while (listed[i] >= origin->end) ++origin;
      const bool begins = i == 0 || leaves || (each && entries[i].instance != entries[i - 1].instance);
      if (begins) found.push_back({origin->first, i, i});
      found.back().end = i + 1;
    }
    return found;
  }

  PartitionCache& cache_;
  ResidentGraph::Impl& graph_;
  Buffer<unsigned long long> read_;     ///< [0] bytes that were read in place
  std::shared_ptr<SampleStore> store_;  ///< the batch's samples
  std::uint64_t counted_ = 0;           ///< launches of the executor
  SideStreams sides_;                   ///< for partitions
};

}  // namespace sluice::samples::cuda

// Levels of a batch of samples on a GPU: the part shared by whole graphs and graphs in partitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/collect.hpp"
#include "engine/samples/errors.hpp"
#include "engine/samples/grow_levels.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/samples/level.hpp"
#include "engine/samples/next_level.cuh"
#include "engine/samples/partitioned/sample_origins.hpp"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/plant.hpp"
#include "engine/samples/select_cuda.cuh"
#include "engine/samples/step.hpp"
#include "engine/select/group_set.hpp"

namespace sluice::samples::cuda {

/// Memory and executor that the batches of a run reuse.
struct LevelsWorkspace {
  explicit LevelsWorkspace(const Device& device) : executor(device) {}

  /// Device memory that the next batch reuses.
  std::uint64_t bytes() const { return memory.bytes() + executor.order_bytes(); }

  SampleWorkspace memory;
  CudaExecutor executor;
};

/// Levels of all instances of a batch together; one object serves all batches of a run.
template <class Program>
class BatchLevels {
 public:
  BatchLevels(const LevelSetup<Program>& setup, LevelsWorkspace& workspace)
      : device_(setup.graph.device),
        memory_(workspace.memory),
        executor_(workspace.executor),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        counted_launches_(executor_.launches()),
        stream_(executor_.cuda_stream()),
        launches_(setup.graph, memory_, setup.linear_requested, setup.stats) {
    memory_.levels.resize(std::max(memory_.levels.size(), program_.sampler.depth() + std::size_t{1}));
    memory_.summary.reserve(device_, 1, "counters");
    memory_.totals.reserve(device_, kCounterSlots, "counters");
    if (memory_.host_summary.size() == 0)
      memory_.host_summary = Staging<LevelSummary>(device_, 1, "counters");
  }

  /// Begins a batch: the seeds of instances [first, first + count) become the first frontier.
  void begin(Instance first, std::uint64_t count) {
    program_.first = first;
    instances_ = count;
    depths_ = 0;
    write_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic, level());
    executor_.fill(memory_.totals.data(), 0, memory_.totals.bytes());
  }
  /// Waits for the batch and adds its counters to the run's statistics.
  void finish() {
    stream_.wait("samples");
    PickTotals totals[kCounterSlots];
    copy_to_host(device_, totals, memory_.totals.data(), sizeof totals);
    for (const PickTotals& slot : totals) {
      stats_.selections += slot.selections, stats_.selection_iterations += slot.iterations;
      stats_.collision_searches += slot.searches;
    }
    stats_.kernel_launches += executor_.launches() - std::exchange(counted_launches_, executor_.launches());
  }
  /// Copies a grown batch to the host.
  void collect(Instance first, std::uint64_t count, SampleStore& out) {
    collect_samples(device_, executor_, program_.graph, {memory_.levels.data(), depths_ + std::size_t{1}},
                    first, count, out, stats_);
  }

  const Program& program() const { return program_; }
  /// The deepest level, whose edges are not yet selected.
  SampleLevel& level() { return memory_.levels[depths_]; }
  std::uint64_t entries() { return level().entries; }
  /// Number of edges selected so far, in all levels.
  std::uint64_t edges() const {
    std::uint64_t sum = 0;
    for (std::uint32_t d = 0; d < depths_; ++d) sum += memory_.levels[d].edges;
    return sum;
  }
  /// Records that the edges of level() are selected; the next level becomes level().
  void finish_level() { ++depths_; }
  /// Records that the edges of the first `depths` levels are selected.
  void set_depth(std::uint32_t depths) { depths_ = depths; }
  SampleLevel& level_at(std::uint32_t depth) { return memory_.levels[depth]; }

  /// Prepares measure(). Levels in progress share one LevelSummary; `clear`: no other is in progress, so
  /// clears it.
  void begin_measure(SampleLevel& level, bool clear = true) {
    level.fanout = 0;
    if (clear) executor_.fill(memory_.summary.data(), 0, sizeof(LevelSummary));
    if constexpr (Program::kDynamic) level.available.reserve(device_, level.entries, kPurpose);
  }
  /// Computes how many edges each entry of an origin rank selects, from the lists of the program's graph.
  void measure(SampleLevel& level, std::uint32_t depth, const LevelOrigin& origin) {
    const Instance first = std::exchange(program_.first, origin.first);
    LevelView view = view_of(level);
    view.entries = origin.end - origin.begin;
    view.frontier += origin.begin;
    std::uint64_t* const sizes = level.offsets.data() + origin.begin;
    if constexpr (Program::kDynamic) {
      view.parents += origin.begin, view.available += origin.begin;
      launch("measure_kernel", measure_kernel<AllEntries, Program>, view.entries * 32, program_, view,
             AllEntries{view.entries}, depth, sizes, memory_.summary.data());
    } else {
      launch("size_kernel", size_kernel<Program>, view.entries, program_, view, depth, sizes,
             memory_.summary.data());
    }
    program_.first = first;
  }
  /// Turns the entries' sizes into edge offsets. Throws UsageError if a list cannot give its draws.
  void sum_sizes(SampleLevel& level) {
    launches_.fetch_summary(stream_);
    level.edges = executor_.exclusive_sum(level.offsets.data(), level.entries);
    check_measure();
  }

  /// Makes the next depth's frontier.
  void advance() {
    SampleLevel& current = memory_.levels[depths_ - 1];
    SampleLevel& next = level();
    const std::uint64_t* sums = nullptr;
    next.entries = current.edges;
    if (current.edges > 0 && (!revisit_ || Program::kUpdates)) {
      sums = flag_arrivals(current);
      next.entries = executor_.exclusive_sum(memory_.flags.data(), current.edges);
    }
    next.earlier_edges.reserve(device_, instances_, kPurpose);
    next.instance_entries.reserve(device_, instances_ + 1, kPurpose);
    executor_.for_each(instances_ + 1, {},
                       NextInstances{view_of(current), instances_, sums, next.earlier_edges.data(),
                                     next.instance_entries.data()});
    if (current.edges == 0) return;
    next.frontier.reserve(device_, next.entries, kPurpose);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kPurpose);
    launch("arrive_kernel", arrive_kernel<Program>, current.edges, program_, view_of(current), depths_,
           revisit_, sums, memory_.levels[0].instance_entries.data(), next.frontier.data(),
           next.parents.data());
  }

 protected:
  static constexpr const char* kPurpose = kSampleBatch;

  template <class Kernel, class... Args>
  void launch(const char* name, Kernel kernel, std::uint64_t threads, Args... args) {
    launches_.launch(name, stream_, threads, ~0u, kernel, args...);
  }

  /// Allocates the edge columns; throws BudgetError at 2^32 - 1 edges.
  void reserve_edges(SampleLevel& current, bool updates = false) {
    if (current.edges >= 0xffffffffu) throw BudgetError("device memory: a batch has too many edges");
    current.reserve_edges(device_, updates);
  }

  /// The most edges of one entry.
  std::uint64_t largest() const { return memory_.host_summary.data()->largest; }
  void check_measure() const {
    const LevelSummary& summary = *memory_.host_summary.data();
    if (summary.too_large) throw biases_too_large(static_cast<Vertex>(summary.too_large - 1));
    if (summary.drawn > program_.max_draws()) throw too_many_draws(summary.drawn, program_.max_draws());
  }

  const std::uint64_t* flag_arrivals(SampleLevel& current) {
    memory_.flags.reserve(device_, current.edges + 1, kPurpose);
    const bool small = largest() <= 32 && !starts_.offsets;
    if (!revisit_ && depths_ == 1 && small && !current.fanout) {
      launch("flag_first_kernel", flag_first_kernel<Program>, current.entries * 32, program_,
             view_of(current), depths_, memory_.flags.data());
    } else {
      const VisitedTable table = revisit_ ? VisitedTable{nullptr, 0} : build_visited_table(current);
      launch("flag_kernel", flag_kernel<Program>, current.edges, program_, view_of(current), depths_,
             revisit_, table, memory_.flags.data());
    }
    return memory_.flags.data();
  }

  /// Builds the table of all vertices visited so far and of those that this depth's edges reach.
  VisitedTable build_visited_table(SampleLevel& current) {
    std::uint64_t keys = current.edges;
    for (std::uint32_t d = 0; d < depths_; ++d) keys += memory_.levels[d].entries;
    const std::uint64_t slots = set_capacity(keys);
    memory_.visited.reserve(device_, slots * sizeof(VisitedSlot), "visited vertices");
    executor_.fill(memory_.visited.data(), 0xff, slots * sizeof(VisitedSlot));
    const VisitedTable table{reinterpret_cast<VisitedSlot*>(memory_.visited.data()), slots - 1};
    for (std::uint32_t d = 0; d < depths_; ++d) {
      const SampleLevel& earlier = memory_.levels[d];
      launch("revisit_kernel", revisit_kernel, earlier.entries, earlier.frontier.data(), earlier.entries,
             table);
    }
    launch("reach_kernel", reach_kernel<Program>, current.edges, program_, view_of(current), depths_, table);
    return table;
  }

  const Device& device_;
  SampleWorkspace& memory_;
  CudaExecutor& executor_;
  Program program_;
  StartsView starts_;
  bool revisit_;
  RunStats& stats_;
  std::uint64_t instances_ = 0;
  std::uint64_t counted_launches_;  ///< executor launches that the statistics contain
  std::uint32_t depths_ = 0;
  const Stream& stream_;
  SelectLaunches<Program> launches_;
};

/// Levels of samples on a whole graph.
template <class P>
class Levels<P, Whole> : public BatchLevels<P> {
 public:
  using Program = P;
  using BatchLevels<Program>::BatchLevels;

  /// Grows instances [first, first + count); collect() then copies them to the host.
  void grow(Instance first, std::uint64_t count) {
    this->begin(first, count);
    timer_.start(stream_);
    grow_levels(*this, nullptr, [&](std::uint32_t depth) {
      select(this->level(), depth);
      this->finish_level();
    });
    stats_.sampled_edges += this->edges();
    timer_.stop(stream_);
    stream_.wait("samples");
    stats_.compute_seconds += timer_.seconds();
    this->finish();
  }

 private:
  using Base = BatchLevels<Program>;
  using Base::device_, Base::memory_, Base::program_, Base::stats_, Base::stream_, Base::launches_;

  /// Selects the edges of a level.
  void select(SampleLevel& level, std::uint32_t depth) {
    this->begin_measure(level);
    if (!draws_evenly(level, depth)) {
      level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
      this->measure(level, depth, {program_.first, 0, level.entries});
      this->sum_sizes(level);
    }
    this->reserve_edges(level);
    if (level.edges == 0) return;
    const std::uint64_t largest = this->largest();
    launches_.reserve(program_, largest);
    const Selection<AllEntries> selection{view_of(level),
                                          {level.entries},
                                          depth,
                                          largest,
                                          stream_,
                                          level.offsets.data(),
                                          &memory_.summary.data()->clashing};
    launches_.select(program_, selection);
    if (launches_.needs_scratch(largest)) launches_.throw_if_exhausted(stream_);
  }

  /// True if every entry draws the same number of edges, so that offsets need no prefix sums.
  bool draws_evenly(SampleLevel& level, std::uint32_t depth) {
    if constexpr (!Program::kDynamic) {
      if (!program_.sampler.replacement()) return false;
      this->launch("even_kernel", even_kernel<Program>, level.entries, program_, view_of(level), depth,
                   memory_.summary.data());
      launches_.read_summary(stream_);
      const std::uint64_t size = this->largest();
      if (memory_.host_summary.data()->uneven != 0 || size == 0 || size > 32) return false;
      level.fanout = static_cast<std::uint32_t>(size);
      level.edges = size * level.entries;
      return true;
    }
    return false;
  }

  Timer timer_;
};

}  // namespace sluice::samples::cuda

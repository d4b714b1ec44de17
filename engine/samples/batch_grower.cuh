// Grows a batch of samples on the GPU: depth by depth, all instances of the batch at once.
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
#include "engine/samples/kernels.cuh"
#include "engine/samples/level.hpp"
#include "engine/samples/next_level.cuh"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/plant.hpp"
#include "engine/samples/select_cuda.cuh"
#include "engine/samples/step.hpp"

namespace sluice::samples::cuda {

/// What batches reuse.
struct LevelsWorkspace {
  explicit LevelsWorkspace(const Device& device) : executor(device, 0) {}

  /// Device memory that the next batch finds already there.
  std::uint64_t bytes() const { return memory.bytes() + executor.order_bytes(); }

  SampleWorkspace memory;
  CudaExecutor executor;
};

/// Grows one batch; reused for all batches of a run.
template <class Program>
class BatchGrower {
 public:
  BatchGrower(const LevelSetup<Program>& setup, LevelsWorkspace& workspace)
      : device_(setup.graph.device),
        memory_(workspace.memory),
        executor_(workspace.executor),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        counted_(executor_.launches()),
        stream_(executor_.queue()),
        launches_(setup.graph, memory_, setup.linear_asked, setup.stats) {
    memory_.levels.resize(std::max(memory_.levels.size(), program_.sampler.depth() + std::size_t{1}));
    memory_.facts.reserve(device_, 1, "counters");
    memory_.totals.reserve(device_, kCounterSlots, "counters");
    if (memory_.host_facts.size() == 0) memory_.host_facts = Staging<LevelFacts>(device_, 1, "counters");
  }

  /// Grows instances [first, first + count); afterwards levels [0, depths()) of the workspace hold them.
  void grow(Instance first, std::uint64_t count) {
    begin(first, count);
    timer_.start(stream_);
    while (depths_ < program_.sampler.depth() && level().entries > 0) {
      select(depths_ + 1);
      step();
      if (depths_ < program_.sampler.depth()) advance();
    }
    timer_.stop(stream_);
    stream_.wait("samples");
    stats_.compute_seconds += timer_.seconds();
    for (std::uint32_t d = 0; d < depths_; ++d) stats_.sampled_edges += memory_.levels[d].edges;
    finish();
  }

  /// Plants the seeds of instances [first, first + count).
  void begin(Instance first, std::uint64_t count) {
    program_.first = first;
    instances_ = count;
    depths_ = 0;
    plant_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic, level());
    executor_.fill(memory_.totals.data(), 0, memory_.totals.bytes());
  }
  /// Adds what was counted to the run's figures.
  void finish() {
    stream_.wait("samples");
    PickTotals totals[kCounterSlots];
    copy_to_host(device_, totals, memory_.totals.data(), sizeof totals);
    for (const PickTotals& slot : totals) {
      stats_.selections += slot.selections, stats_.selection_iterations += slot.iterations;
      stats_.collision_searches += slot.searches;
    }
    stats_.kernel_launches += executor_.launches() - std::exchange(counted_, executor_.launches());
  }
  /// Brings a batch that has been grown to the host.
  void collect(Instance first, std::uint64_t count, SampleStore& out) {
    collect_samples(device_, executor_, program_.graph, {memory_.levels.data(), depths_ + std::size_t{1}},
                    first, count, out, stats_);
  }

  /// The level whose edges come next.
  SampleLevel& level() { return memory_.levels[depths_]; }
  /// Its edges are selected.
  void step() { ++depths_; }
  std::uint32_t depths() const { return depths_; }

 protected:
  static constexpr const char* kPurpose = kSampleBatch;

  template <class Kernel, class... Args>
  void launch(const char* name, Kernel kernel, std::uint64_t threads, Args... args) {
    launches_.launch(name, stream_, threads, ~0u, kernel, args...);
  }

  /// Selects the edges of one depth.
  void select(std::uint32_t depth) {
    SampleLevel& now = level();
    const std::uint64_t largest = measure(now, depth);
    reserve_edges(now);
    if (now.edges == 0) return;
    launches_.reserve(program_, largest);
    const Selection<AllEntries> all{view_of(now),
                                    {now.entries},
                                    depth,
                                    largest,
                                    stream_,
                                    now.offsets.data(),
                                    &memory_.facts.data()->clashing};
    launches_.select(program_, all);
    if (launches_.needs_scratch(largest)) launches_.refuse_exhausted(stream_);
  }

  /// For edges whose number is known.
  void reserve_edges(SampleLevel& now, bool updates = false) {
    if (now.edges >= 0xffffffffu) throw BudgetError("device memory: a batch has too many edges");
    now.reserve_edges(device_, updates);
  }

  void check_measure() const {
    const LevelFacts& facts = *memory_.host_facts.data();
    if (facts.too_large) throw biases_too_large(static_cast<Vertex>(facts.too_large - 1));
    if (facts.drawn > program_.most_draws()) throw too_many_draws(facts.drawn, program_.most_draws());
  }

  /// Finds how many edges the entries select, and where they begin; returns the largest selection.
  std::uint64_t measure(SampleLevel& now, std::uint32_t depth) {
    now.fanout = 0;
    now.edges = 0;
    LevelFacts* const facts = clear_facts();
    if constexpr (Program::kDynamic) {
      now.offsets.reserve(device_, now.entries + 1, kPurpose);
      now.available.reserve(device_, now.entries, kPurpose);
      launch("measure_kernel", measure_kernel<AllEntries, Program>, now.entries * 32, program_, view_of(now),
             AllEntries{now.entries}, depth, now.offsets.data(), facts);
      return sum_sizes(now);
    } else {
      return measure_tabled(now, depth, facts);
    }
  }

  LevelFacts* clear_facts() {
    LevelFacts* const facts = memory_.facts.data();
    check(cudaMemsetAsync(facts, 0, sizeof(LevelFacts), stream_.get()), "clearing counters");
    return facts;
  }

  std::uint64_t measure_tabled(SampleLevel& now, std::uint32_t depth, LevelFacts* facts) {
    if (program_.sampler.replacement()) {
      launch("even_kernel", even_kernel<Program>, now.entries, program_, view_of(now), depth, facts);
      launches_.read_facts(stream_);
      const std::uint64_t size = memory_.host_facts.data()->largest;
      if (memory_.host_facts.data()->uneven == 0 && size <= 32) {
        now.fanout = static_cast<std::uint32_t>(size);
        now.edges = size * now.entries;
        if (size > 0) return size;
      }
    }
    return measure_each(now, depth, facts);
  }

  std::uint64_t measure_each(SampleLevel& now, std::uint32_t depth, LevelFacts* facts) {
    now.offsets.reserve(device_, now.entries + 1, kPurpose);
    launch("size_kernel", size_kernel<Program>, now.entries, program_, view_of(now), depth,
           now.offsets.data(), facts);
    return sum_sizes(now);
  }

  /// Where each entry's edges begin, from their sizes.
  std::uint64_t sum_sizes(SampleLevel& now) {
    launches_.fetch_facts(stream_);
    now.edges = executor_.exclusive_sum(now.offsets.data(), now.entries);
    check_measure();
    return memory_.host_facts.data()->largest;
  }

 public:
  /// Makes the next depth's frontier.
  void advance() {
    SampleLevel& now = memory_.levels[depths_ - 1];
    SampleLevel& next = level();
    const std::uint64_t* sums = nullptr;
    next.entries = now.edges;
    if (now.edges > 0 && (!revisit_ || Program::kUpdates)) {
      sums = flag_arrivals(now);
      next.entries = executor_.exclusive_sum(memory_.flags.data(), now.edges);
    }
    next.before.reserve(device_, instances_, kPurpose);
    next.instance_entries.reserve(device_, instances_ + 1, kPurpose);
    executor_.for_each(
        instances_ + 1, {},
        NextInstances{view_of(now), instances_, sums, next.before.data(), next.instance_entries.data()});
    if (now.edges == 0) return;
    next.frontier.reserve(device_, next.entries, kPurpose);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kPurpose);
    launch("arrive_kernel", arrive_kernel<Program>, now.edges, program_, view_of(now), depths_, revisit_,
           sums, memory_.levels[0].instance_entries.data(), next.frontier.data(), next.parents.data());
  }

 protected:
  const std::uint64_t* flag_arrivals(SampleLevel& now) {
    memory_.flags.reserve(device_, now.edges + 1, kPurpose);
    const bool small = memory_.host_facts.data()->largest <= 32 && !starts_.offsets;
    if (!revisit_ && depths_ == 1 && small && !now.fanout) {
      launch("flag_first_kernel", flag_first_kernel<Program>, now.entries * 32, program_, view_of(now),
             depths_, memory_.flags.data());
    } else {
      const VisitedTable table = revisit_ ? VisitedTable{nullptr, 0} : reach(now);
      launch("flag_kernel", flag_kernel<Program>, now.edges, program_, view_of(now), depths_, revisit_, table,
             memory_.flags.data());
    }
    return memory_.flags.data();
  }

  /// The table of all vertices visited so far, and of those that this depth's edges reach.
  VisitedTable reach(SampleLevel& now) {
    std::uint64_t keys = now.edges;
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
    launch("reach_kernel", reach_kernel<Program>, now.edges, program_, view_of(now), depths_, table);
    return table;
  }

 protected:
  const Device& device_;
  SampleWorkspace& memory_;
  CudaExecutor& executor_;
  Program program_;
  StartsView starts_;
  bool revisit_;
  RunStats& stats_;
  std::uint64_t instances_ = 0;
  std::uint64_t counted_;  ///< launches of the executor
  std::uint32_t depths_ = 0;
  const Stream& stream_;
  SelectLaunches<Program> launches_;
  Timer timer_;
};

}  // namespace sluice::samples::cuda

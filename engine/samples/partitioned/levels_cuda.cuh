// A GPU's depths of samples on a graph in partitions. The entries of one partition are a small depth of their
// own, which the kernels of graphs that are here as a whole work on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/cuda_executor.cuh"
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

/// What was measured of a partition's entries, to their places.
struct PutSizes {
  const std::uint64_t* sizes;
  const std::uint32_t* order;
  std::uint64_t* level_sizes;

  __device__ void operator()(std::uint64_t i, CudaLane&) const { level_sizes[order[i]] = sizes[i]; }
};

/// The edges of a partition's entries, to their places.
template <class Program>
struct PutEdges {
  Program program;
  LevelView level, part;
  const std::uint32_t* order;
  std::uint32_t depth;

  __device__ void operator()(std::uint64_t edge, CudaLane&) const {
    const std::uint64_t own = part.owner(edge), entry = order[own];
    const std::uint64_t to = level.offsets[entry] + (edge - part.offset(own));
    level.indices[to] = part.indices[edge];
    level.targets[to] = part.targets[edge];
    level.owners[to] = static_cast<std::uint32_t>(entry);
    if constexpr (Program::kUpdates) {
      const FrontierEntry from = part.frontier[own];
      const Vertex parent = Program::kDynamic ? part.parents[own] : kNoVertex;
      const Edge selected{from.vertex, part.targets[edge], part.position(program.graph, from.vertex, edge)};
      level.arrivals[to] = program.arrival(program.expansion(from, depth, parent), selected);
    }
  }
};

/// Adds up what the entries of a partition that is read in place look at.
template <class Program>
struct AddReadBytes {
  Program program;
  LevelView part;

  __device__ void operator()(std::uint64_t at, CudaLane& lane) const {
    const std::uint64_t edges = part.offset(at + 1) - part.offset(at);
    lane.add(0, read_bytes(program, part.frontier[at].vertex, edges));
  }
};

template <class P>
class Levels : private LevelsWorkspace, public BatchGrower<P> {
 public:
  using Program = P;
  using Exec = CudaExecutor;
  static constexpr bool kOneAfterAnother = true;  ///< partitions, each with the whole GPU

  Levels(const LevelSetup<Program>& setup, PartitionCache& cache)
      : LevelsWorkspace(setup.graph.device),
        Base(setup.graph, workspace_, executor_.queue(), setup.program, setup.starts, setup.revisit,
             setup.stats),
        cache_(cache),
        graph_(setup.graph),
        read_(setup.graph.device, LaneOutput::kSums, "counters") {
    this->linear_asked = setup.linear_asked;
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
      this->launch("measure_kernel", measure_kernel<Program>, view.entries * 32, program_, view, depth,
                   level.offsets.data() + origin.begin, memory_.facts.data());
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

  /// Works on the entries in order of partition that wait for those that are present, a partition at a time.
  void work(const LevelTask& task, const OrderedItems& order, std::span<const std::uint32_t> present) {
    const Program base = program_;
    const LevelFacts facts = *memory_.host_facts.data();  // of the whole depth, for what follows
    for (const std::uint32_t partition : present) {
      const std::uint32_t* const items = order.items.data() + order.begins[partition];
      program_ = on_page(base, cache_.page(partition));
      for (const LevelOrigin& batch : batches(task, items, order.count(partition))) {
        program_.first = batch.first;
        take(task.level, items + batch.begin, batch.end - batch.begin);
        task.work == LevelWork::measure ? measure_part(task, items + batch.begin)
                                        : select_part(task, items + batch.begin, cache_.in_place(partition));
      }
    }
    executor_.wait("samples");  // the slots may be filled anew
    program_ = base;
    *memory_.host_facts.data() = facts;
  }

  /// Adds what was counted to the run's figures.
  void finish() {
    Base::finish();
    std::uint64_t read = 0;
    executor_.read(&read, read_.data(), 1, "samples");
    executor_.fill(read_.data(), 0, read_.bytes());
    stats_.mapped_bytes += read;
    stats_.kernel_launches += executor_.launches() - launches_;
    launches_ = executor_.launches();
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
  using Base::device_, Base::memory_, Base::program_, Base::stats_, Base::stream_;

  void measure_part(const LevelTask& task, const std::uint32_t* order) {
    SampleLevel& part = memory_.part;
    part.offsets.reserve(device_, part.entries + 1, kSampleBatch);
    part.available.reserve(device_, part.entries, kSampleBatch);
    if constexpr (Program::kDynamic)
      this->launch("measure_kernel", measure_kernel<Program>, part.entries * 32, program_, view_of(part),
                   task.depth, part.offsets.data(), memory_.facts.data());
    executor_.for_each(part.entries, {}, PutSizes{part.offsets.data(), order, task.level.offsets.data()});
  }

  void select_part(const LevelTask& task, const std::uint32_t* order, bool in_place) {
    SampleLevel& part = memory_.part;
    const std::uint64_t largest = Base::measure(part, task.depth);
    part.reserve_edges(device_, false);
    this->select_edges(part, task.depth, largest);
    executor_.for_each(part.edges, {},
                       PutEdges<Program>{program_, view_of(task.level), view_of(part), order, task.depth});
    if (in_place)
      executor_.for_each(part.entries, {.sums = read_.data()},
                         AddReadBytes<Program>{program_, view_of(part)});
  }

  /// What is worked on together of a partition's entries: all of them, or those of each origin rank, or of
  /// each instance.
  std::vector<LevelOrigin> batches(const LevelTask& task, const std::uint32_t* order, std::uint64_t count) {
    const bool each = !cache_.paging().batching;
    if (!each && task.origins.size() == 1) return {{task.origins[0].first, 0, count}};
    take(task.level, order, count);
    executor_.wait("samples");
    std::vector<FrontierEntry> entries(count);
    copy_to_host(device_, entries.data(), memory_.part.frontier.data(), count * sizeof(FrontierEntry));
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

  /// The entries of a level that `order` lists become memory_.part.
  void take(const SampleLevel& level, const std::uint32_t* order, std::uint64_t count) {
    SampleLevel& part = memory_.part;
    part.entries = count;
    part.frontier.reserve(device_, count, kSampleBatch);
    if constexpr (Program::kDynamic) part.parents.reserve(device_, count, kSampleBatch);
    executor_.for_each(count, {},
                       TakeEntries{order, level.frontier.data(), level.parents.data(), part.frontier.data(),
                                   part.parents.data()});
  }

  PartitionCache& cache_;
  ResidentGraph::Impl& graph_;
  Buffer<unsigned long long> read_;     ///< [0] bytes that were read in place
  std::shared_ptr<SampleStore> store_;  ///< the batch's samples
  std::uint64_t launches_ = 0;          ///< that were counted
};

}  // namespace sluice::samples::cuda

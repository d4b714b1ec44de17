// The GPU's side of samples on a graph in partitions: a depth's entries ordered by the partition that holds
// their list. Those of one partition are a small depth of their own, which the kernels of graphs that are
// here as a whole work on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/clock.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/batch_grower.cuh"
#include "engine/samples/collect.hpp"
#include "engine/samples/partitioned/sample.hpp"
#include "engine/samples/partitioned/sample_kernels.cuh"
#include "engine/samples/partitioned/sample_origins.hpp"
#include "engine/samples/store.hpp"

namespace sluice::cuda {

/// What a run gives its grower.
template <class Program>
struct PagedSampleSetup {
  ResidentGraph::Impl& graph;
  const Program& program;
  StartsView starts;
  bool revisit;
  bool linear_asked;
  RunStats& stats;
};

/// Its memory goes with the slots, so that a new plan finds it free.
struct PagedWorkspace {
  SampleWorkspace workspace;
};

template <class Program>
class PagedGrower : private PagedWorkspace, public BatchGrower<Program> {
 public:
  static constexpr bool kOneAfterAnother = true;  ///< partitions, each with the whole GPU

  PagedGrower(const PagedSampleSetup<Program>& setup, PartitionCache& cache)
      : BatchGrower<Program>(setup.graph, workspace, setup.program, setup.starts, setup.revisit, setup.stats),
        cache_(cache),
        places_(cache.partitions() + std::size_t{1}, 0),
        graph_(setup.graph),
        owners_(cache.owners()),
        read_(setup.graph.device, 1, "counters"),
        waiting_(cache.partitions(), 0) {
    this->linear_asked = setup.linear_asked;
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    submit(collect(first, count), sink, writer);
  }
  std::uint64_t bytes() const { return workspace.bytes(); }

 protected:
  using Base = BatchGrower<Program>;
  using Base::device_, Base::kPurpose, Base::memory_, Base::program_, Base::stats_, Base::stream_;

  /// The batch's samples.
  std::shared_ptr<SampleStore> collect(Instance first, std::uint64_t count) {
    auto store = std::make_shared<SampleStore>();
    collect_samples(graph_, workspace, this->depths(), this->seeds(), first, count, *store, stats_);
    return store;
  }
  void submit(std::shared_ptr<SampleStore> store, SampleSink& sink, BatchWriter& writer) {
    writer.submit([store = std::move(store), &sink] { sink.write(store->batch()); });
  }

  void select(std::uint32_t depth) override {
    Level& now = this->level();
    const LevelOrigin all{program_.first, 0, now.entries};
    select_present(now, depth, {&all, 1});
    this->find_bounds(now);
  }

  /// Selects the edges of a level whose entries belong to `origins`, in this order; their lists are in
  /// partitions that may come here. Sizes are known beforehand, but for a dynamic bias, whose lists say how
  /// many candidates they have.
  void select_present(Level& now, std::uint32_t depth, std::span<const LevelOrigin> origins) {
    measure_level(now, depth, origins);
    this->check_measure();
    this->reserve_edges(now);
    if (now.edges == 0) return;
    if constexpr (Program::kUpdates) now.arrivals.reserve(device_, now.edges, kPurpose);
    const LevelFacts facts = *memory_.host_facts.data();
    check(cudaMemsetAsync(read_.data(), 0, read_.bytes(), stream_.get()), "clearing counters");
    queue(now, now.offsets.data());
    visit(now, origins, [&](Level& part, const std::uint32_t* order) {
      const std::uint64_t largest = this->measure(part, depth);
      part.indices.reserve(device_, part.edges, kPurpose);
      part.targets.reserve(device_, part.edges, kPurpose);
      if (!part.fanout) part.owners.reserve(device_, part.edges, kPurpose);
      this->select_edges(part, depth, largest);
      this->launch("put_edges_kernel", put_edges_kernel<Program>, part.edges, program_, view_of(now),
                   view_of(part), order, depth);
      if (in_place_)
        this->launch("read_bytes_kernel", read_bytes_kernel<Program>, part.entries, program_, view_of(part),
                     read_.data());
    });
    *memory_.host_facts.data() = facts;  // of the whole depth, for what follows
    unsigned long long read = 0;
    copy_to_host(device_, &read, read_.data(), sizeof read);
    stats_.mapped_bytes += read;
  }

  /// Orders the entries that wait by partition; `offsets` as in key_kernel.
  void queue(const Level& now, const std::uint64_t* offsets) {
    const std::uint32_t partitions = cache_.partitions();
    memory_.keys.reserve(device_, now.entries, kPurpose);
    memory_.sorted_keys.reserve(device_, now.entries, kPurpose);
    memory_.entries.reserve(device_, now.entries, kPurpose);
    memory_.order.reserve(device_, now.entries, kPurpose);
    memory_.places.reserve(device_, places_.size(), kPurpose);
    this->launch("key_kernel", key_kernel, now.entries, program_.graph, owners_, partitions, view_of(now),
                 offsets, memory_.keys.data(), memory_.entries.data());
    sort_by_key(device_, memory_.keys.data(), memory_.sorted_keys.data(), memory_.entries.data(),
                memory_.order.data(), now.entries, static_cast<unsigned>(std::bit_width(partitions)),
                memory_.sort, stream_.get());
    this->launch("places_kernel", places_kernel, places_.size(), memory_.sorted_keys.data(), now.entries,
                 partitions + 1, memory_.places.data());
    check(cudaMemcpyAsync(places_.data(), memory_.places.data(), places_.size() * sizeof(std::uint64_t),
                          cudaMemcpyDeviceToHost, stream_.get()),
          "places to the host");
    stream_.wait("a sort");
    for (std::uint32_t p = 0; p < partitions; ++p) waiting_[p] = places_[p + 1] - places_[p];
  }

  PartitionCache& cache_;
  std::vector<std::uint64_t> places_;  ///< [partitions + 1] where those that wait begin in the order

 private:
  void measure_level(Level& now, std::uint32_t depth, std::span<const LevelOrigin> origins) {
    now.fanout = 0;
    LevelFacts* const facts = this->clear_facts();
    now.offsets.reserve(device_, now.entries + 1, kPurpose);
    const Instance first = program_.first;
    for (const LevelOrigin& origin : origins) {
      if constexpr (Program::kDynamic) {
        if (!program_.every_is_candidate) break;
        now.available.reserve(device_, now.entries, kPurpose);
      }
      program_.first = origin.first;
      measure_origin(now, depth, origin, facts);
    }
    program_.first = first;
    if constexpr (Program::kDynamic) {
      if (!program_.every_is_candidate) measure_visited(now, depth, origins, facts);
    }
    this->sum_sizes(now);
  }

  void measure_origin(const Level& now, std::uint32_t depth, const LevelOrigin& origin, LevelFacts* facts) {
    LevelView view = view_of(now);
    view.entries = origin.end - origin.begin;
    view.frontier += origin.begin;
    if constexpr (Program::kDynamic) {
      view.parents += origin.begin, view.available += origin.begin;
      this->launch("measure_kernel", measure_kernel<Program>, view.entries * 32, program_, view, depth,
                   now.offsets.data() + origin.begin, facts);
    } else {
      this->launch("size_kernel", size_kernel<Program>, view.entries, program_, view, depth,
                   now.offsets.data() + origin.begin, facts);
    }
  }

  void measure_visited(Level& now, std::uint32_t depth, std::span<const LevelOrigin> origins,
                       LevelFacts* facts) {
    check(cudaMemsetAsync(now.offsets.data(), 0, now.offsets.bytes(), stream_.get()), "clearing sizes");
    queue(now, nullptr);
    visit(now, origins, [&](Level& part, const std::uint32_t* order) {
      part.offsets.reserve(device_, part.entries + 1, kPurpose);
      part.available.reserve(device_, part.entries, kPurpose);
      this->launch("measure_kernel", measure_kernel<Program>, part.entries * 32, program_, view_of(part),
                   depth, part.offsets.data(), facts);
      this->launch("put_sizes_kernel", put_sizes_kernel, part.entries, part.offsets.data(), part.entries,
                   order, now.offsets.data());
    });
  }

  /// Calls body(part, order) for the entries of each partition as it comes; `program_` reads its edges, and
  /// numbers instances as their origin rank does, then.
  template <class Body>
  void visit(const Level& now, std::span<const LevelOrigin> origins, const Body& body) {
    const Program base = program_;
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      for (const std::uint32_t partition : present) {
        const std::uint32_t* const order = memory_.order.data() + places_[partition];
        program_ = on_page(base, cache_.page(partition));
        in_place_ = cache_.in_place(partition);
        for (const LevelOrigin& batch : batches(now, order, waiting_[partition], origins)) {
          program_.first = batch.first;
          body(take(now, order + batch.begin, batch.end - batch.begin), order + batch.begin);
        }
        waiting_[partition] = 0;
      }
      stream_.wait("samples");  // the slots may be filled anew
    });
    program_ = base;
  }

  /// What is worked on together of a partition's entries: all of them, or those of each origin rank, or of
  /// each instance.
  std::vector<LevelOrigin> batches(const Level& now, const std::uint32_t* order, std::uint64_t count,
                                   std::span<const LevelOrigin> origins) {
    const bool each = !cache_.paging().batching;
    if (!each && origins.size() == 1) return {{origins[0].first, 0, count}};
    take(now, order, count);
    stream_.wait("samples");
    std::vector<FrontierEntry> entries(count);
    copy_to_host(device_, entries.data(), memory_.part.frontier.data(), count * sizeof(FrontierEntry));
    std::vector<std::uint32_t> listed(count);
    copy_to_host(device_, listed.data(), order, count * sizeof(std::uint32_t));
    std::vector<LevelOrigin> found;
    auto origin = origins.begin();
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool leaves = listed[i] >= origin->end;
      while (listed[i] >= origin->end) ++origin;
      const bool begins = i == 0 || leaves || (each && entries[i].instance != entries[i - 1].instance);
      if (begins) found.push_back({origin->first, i, i});
      found.back().end = i + 1;
    }
    return found;
  }

  Level& take(const Level& now, const std::uint32_t* order, std::uint64_t count) {
    Level& part = memory_.part;
    part.entries = count;
    part.frontier.reserve(device_, count, kPurpose);
    if constexpr (Program::kDynamic) part.parents.reserve(device_, count, kPurpose);
    this->launch("take_entries_kernel", take_entries_kernel, count, view_of(now), order, count,
                 part.frontier.data(), part.parents.data());
    return part;
  }

  ResidentGraph::Impl& graph_;
  OwnershipView owners_;
  Buffer<unsigned long long> read_;     ///< bytes that were read in place
  bool in_place_ = false;               ///< is the partition read in place that is worked on?
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries that wait
};

}  // namespace sluice::cuda

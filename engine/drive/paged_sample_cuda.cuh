// The GPU's side of samples on a graph in partitions: a depth's entries ordered by the partition that holds
// their list. Those of one partition are a small depth of their own, which the kernels of graphs that are
// here as a whole work on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_sample.hpp"
#include "engine/drive/paged_sample_kernels.cuh"
#include "engine/drive/sample_collect.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/wave_grower.cuh"
#include "engine/drive/wave_writer.hpp"
#include "engine/exec/sort.hpp"

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
class PagedGrower : private PagedWorkspace, public WaveGrower<Program> {
 public:
  static constexpr bool kShards = false;
  static constexpr bool kOneAfterAnother = true;  ///< partitions, each with the whole GPU

  PagedGrower(const PagedSampleSetup<Program>& setup, PageLoop& loop)
      : WaveGrower<Program>(setup.graph, workspace, setup.program, setup.starts, setup.revisit, setup.stats),
        graph_(setup.graph),
        loop_(loop),
        owners_(loop.publish().owners),
        read_(setup.graph.device, 1, "counters"),
        waiting_(loop.partitions(), 0),
        places_(loop.partitions() + std::size_t{1}, 0) {
    this->linear_asked = setup.linear_asked;
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, WaveWriter& writer) {
    const auto store = std::make_shared<SampleStore>();
    collect_samples(graph_, workspace, this->depths(), this->seeds(), first, count, *store, stats_);
    const double waiting = seconds_now();
    writer.submit([store, &sink] { sink.write(store->batch()); });
    stats_.write_seconds += seconds_now() - waiting;
  }
  std::uint64_t bytes() const { return workspace.bytes(); }

 private:
  using Base = WaveGrower<Program>;
  using Base::device_, Base::kPurpose, Base::memory_, Base::program_, Base::stats_, Base::stream_;

  /// Sizes are known beforehand, but for a dynamic bias, whose lists say how many candidates they have.
  void select(std::uint32_t depth) override {
    Level& now = this->level();
    measure_level(now, depth);
    this->check_measure();
    this->make_room(now);
    if (now.edges == 0) return;
    if constexpr (Program::kUpdates) now.arrivals.reserve(device_, now.edges, kPurpose);
    const LevelFacts facts = *memory_.host_facts.data();
    check(cudaMemsetAsync(read_.data(), 0, read_.bytes(), stream_.get()), "clearing counters");
    queue(now, now.offsets.data());
    visit(now, [&](Level& part, const std::uint32_t* order) {
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

  void measure_level(Level& now, std::uint32_t depth) {
    now.fanout = 0;
    if constexpr (!Program::kDynamic) {
      this->measure_each(now, depth, this->clear_facts());
    } else if (program_.every_is_candidate) {
      this->measure(now, depth);
    } else {
      LevelFacts* const facts = this->clear_facts();
      now.offsets.reserve(device_, now.entries + 1, kPurpose);
      check(cudaMemsetAsync(now.offsets.data(), 0, now.offsets.bytes(), stream_.get()), "clearing sizes");
      queue(now, nullptr);
      visit(now, [&](Level& part, const std::uint32_t* order) {
        part.offsets.reserve(device_, part.entries + 1, kPurpose);
        part.available.reserve(device_, part.entries, kPurpose);
        this->launch("measure_kernel", measure_kernel<Program>, part.entries * 32, program_, view_of(part),
                     depth, part.offsets.data(), facts);
        this->launch("put_sizes_kernel", put_sizes_kernel, part.entries, part.offsets.data(), part.entries,
                     order, now.offsets.data());
      });
      this->sum_sizes(now);
    }
  }

  /// Orders the entries that wait by partition; `offsets` as in key_kernel.
  void queue(const Level& now, const std::uint64_t* offsets) {
    const std::uint32_t partitions = loop_.partitions();
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

  /// Calls body(part, order) for the entries of each partition as it comes; `program_` reads its edges
  /// then.
  template <class Body>
  void visit(const Level& now, const Body& body) {
    const Program base = program_;
    loop_.drain(waiting_, [&](std::span<const std::uint32_t> here) {
      for (const std::uint32_t partition : here) {
        const std::uint32_t* const order = memory_.order.data() + places_[partition];
        program_ = on_page(base, loop_.page(partition));
        in_place_ = loop_.in_place(partition);
        std::uint64_t from = 0;
        for (const std::uint64_t end : batches(now, order, waiting_[partition])) {
          body(take(now, order + from, end - from), order + from);
          from = end;
        }
        waiting_[partition] = 0;
      }
      stream_.wait("samples");  // the slots may be filled anew
    });
    program_ = base;
  }

  /// Where what is worked on together ends: all entries, or those of each instance.
  std::vector<std::uint64_t> batches(const Level& now, const std::uint32_t* order, std::uint64_t count) {
    if (loop_.paging().batching) return {count};
    take(now, order, count);
    stream_.wait("samples");
    std::vector<FrontierEntry> entries(count);
    copy_to_host(device_, entries.data(), memory_.part.frontier.data(), count * sizeof(FrontierEntry));
    std::vector<std::uint64_t> ends;
    for (std::uint64_t i = 1; i < count; ++i) {
      if (entries[i].instance != entries[i - 1].instance) ends.push_back(i);
    }
    ends.push_back(count);
    return ends;
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
  PageLoop& loop_;
  OwnerTable owners_;
  Buffer<unsigned long long> read_;     ///< bytes that were read in place
  bool in_place_ = false;               ///< is the partition read in place that is worked on?
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries that wait
  std::vector<std::uint64_t> places_;   ///< [partitions + 1] where they begin in the order
};

}  // namespace sluice::cuda

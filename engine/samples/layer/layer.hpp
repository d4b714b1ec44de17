// Runs any layer sampler: picks the technique, builds the tables and passes the program to the backend.
// Include this header to run your own sampler; compile the including file as CUDA to run it on a GPU too.
#pragma once

#include <string>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/build_namespace.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/group.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/instance_job.hpp"
#include "engine/samples/layer/arena.hpp"
#include "engine/samples/layer/partitioned.hpp"
#include "engine/samples/layer/sampler.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/partitioned/partitioned_samples.hpp"

namespace sluice::samples {
inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

/// The technique by which layers are drawn. Throws UsageError if layers cannot be drawn by `select`.
inline Select layer_select(Select select) {
  switch (select) {
    case Select::automatic:
    case Select::its:
      return Select::bipartite;  // inverse transform on two levels; clashes are redrawn
    case Select::bipartite:
    case Select::repeated:
    case Select::updated:
      return select;
    default:
      throw UsageError("--select: layer selects by its, repeated, updated or bipartite");
  }
}

/// Grows the instances of a batch from `first` on, on a whole graph.
template <LayerSampler Sampler>
struct GrowLayers {
  LayerProgram<Sampler> program;
  LayerSlots slots;
  Instance first;
  std::uint32_t* seeds;   ///< [instances] number of seeds, or a LayerFault
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t index, PickCounters& counters) const {
    const std::uint32_t max_scan_length = Group::kSize > 32 ? LayerLists::kAnyLength : longest;
    const std::uint32_t seed_count =
        program.run(group, first + index, slots.at(index), counters, max_scan_length);
    if (seed_count == LayerFault::kTooLong) return false;
    if (group.rank() == 0) seeds[index] = seed_count;
    return true;
  }
};

template <LayerSampler Sampler>
struct LayerJob : InstanceRun<SampleSink> {
  LayerProgram<Sampler> program;
  const PageRequest* pages = nullptr;  ///< read on graphs in partitions only

  template <Executor E>
  void run() const {
    if (graph.paged) return in_partitions<E>();
    graph.device.is_cuda() ? in_batches<E>() : in_blocks();
  }

  template <Executor E>
  void in_partitions() const {
    const std::uint64_t instance_bytes = paged_layer_bytes(graph.device, program.sizes, graph.paging.shard);
    run_partitioned_samples<PagedLayerGrower<E, Sampler>>(*this, PagedSetup{graph, program, stats}, *pages,
                                                          instance_bytes, program.sampler.depth());
  }

  /// On the host: each thread grows one instance at a time.
  void in_blocks() const {
    const LayerArena arena(graph.device, program.sizes, graph.device.threads());
    host::run_blocks(
        *this, [&](unsigned thread, Instance instance, SampleStore& out, host::BlockCounters& counters) {
          const LayerScratch slot = arena.view().at(thread);
          PickCounters picks;
          const std::uint32_t seeds = program.run(SingleLane{}, instance, slot, picks);
          append_layer(program.sizes, slot.edges, slot.depth_counts, slot.seeds, seeds, out);
          counters.iterations += picks.iterations, counters.searches += picks.searches;
          counters.selections += out.edge_counts.back();
        });
  }

  /// On a GPU: a slot for each instance of a batch.
  template <Executor E>
  void in_batches() const {
    const bool hubs = graph.view.hub_count > 0, large_layer = program.sizes.layer > GraphView::kHubDegree;
    const std::uint64_t batch = instances_at_once(
        graph.device, LayerArena::bytes_per_slot(program.sizes) + sizeof(std::uint64_t), instances());
    if (graph.device.is_planning()) return;
    const LayerArena arena(graph.device, program.sizes, batch);
    const Buffer<std::uint32_t> seed_counts(graph.device, batch, "counts of seeds");
    GroupWork<E> work(graph.device, stats);
    const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
      const double start = seconds_now();
      work.for_each_group(count,
                          GrowLayers<Sampler>{program, arena.view(), first, seed_counts.data(),
                                              hubs ? GraphView::kHubDegree : LayerLists::kAnyLength},
                          large_layer ? Groups::blocks
                          : hubs      ? Groups::warps_then_blocks
                                      : Groups::warps);
      stats.compute_seconds += seconds_now() - start;
      const double download_start = seconds_now();
      const auto store = std::make_shared<SampleStore>();
      store->first = first;
      const auto seeds = download(graph.device, seed_counts, 0, count, stats);
      arena.append(
          graph.device, 0, count, [&](std::uint64_t i) { return seeds[i]; }, *store, stats);
      stats.transfer_seconds += seconds_now() - download_start;
      stats.sampled_edges += store->edge.size(), stats.selections += store->edge.size();
      if (sink) writer.submit([store, this] { sink->write(store->batch()); });
    };
    run_batches(EqualBatches{batch, run}, range, options.progress, stats);
  }
};

/// Builds the tables of a sampler's bias; `pages` gets the columns that partitions must carry for it.
template <LayerSampler Sampler>
void add_layer_tables(ResidentGraph::Impl& graph, BiasTables& tables, PageRequest& pages,
                      LayerProgram<Sampler>& program) {
  program.bias = layer_bias(program.sampler);
  if constexpr (HasEdgeBias<Sampler>) {
    if (program.bias == LayerBias::uniform) return;
    const auto bias = table_bias(program.sampler);
    constexpr bool named = std::derived_from<Sampler, NamedBias>;
    pages.columns.weights = graph.graph.weighted && (!named || program.bias == LayerBias::weight);
    if (program.bias == LayerBias::tabled) program.cumulative = ctps_of(graph, tables, bias, pages);
    ensure_bounds(graph, tables, bias);
    program.positive = tables.positive.data();
  }
}

/// Throws UsageError if random words would repeat, or a depth would select no entry.
template <LayerSampler Sampler>
void check_sizes(const LayerProgram<Sampler>& program) {
  if (program.sizes.layer > kMaxDraws / 2)
    throw UsageError("--layer-size: at most " + std::to_string(kMaxDraws / 2) + " edges per depth");
  if constexpr (HasLayerFrontier<Sampler>) {
    for (std::uint32_t depth = 1; depth <= program.sizes.depths; ++depth) {
      const std::uint64_t entries = program.sampler.frontier_size(depth);
      if (entries == 0 || entries > kMaxWords)
        throw UsageError("a layer's frontier_size must be at least 1, and at most " +
                         std::to_string(kMaxWords));
    }
  }
}

/// Runs layer samples; the sampler's tables are built in `tables`, or reused from it.
template <LayerSampler Sampler>
RunStats run_layer(ResidentGraph& resident, BiasTables& tables, const Starts& starts, const Sampler& sampler,
                   const Options& options, SampleSink* sink) {
  refuse_hooks<never_called_by_layers<Sampler>()>();
  ResidentGraph::Impl& graph = resident.impl();
  PageRequest pages(graph);
  RunStats stats;
  LayerProgram<Sampler> program;
  program.graph = graph.view;
  program.sampler = sampler;
  program.select = stats.select = layer_select(options.select);
  program.seed = options.seed;
  program.revisit = options.revisit;
  program.collision = technique_of(options.collision);
  program.sizes = LayerSizes::of(sampler, starts.max_seeds(), options.revisit, program.collision);
  check_sizes(program);
  const double tables_before = graph.table_seconds;
  add_layer_tables(graph, tables, pages, program);
  stats.table_seconds = graph.table_seconds - tables_before;
  const DeviceStarts device_starts(graph, starts, options.seed);
  program.starts = device_starts.view();
  run_instances(LayerJob<Sampler>{{graph, starts, options, sink, stats}, program, &pages});
  stats.steps = stats.sampled_edges;
  return stats;
}

/// Runs layer samples with your own sampler. `options.kind` and the options of built-in kinds are ignored.
/// Throws the same errors as run_samples.
template <LayerSampler Sampler>
RunStats run_layer(ResidentGraph& graph, const Starts& starts, const Sampler& sampler, const Options& options,
                   SampleSink* sink) {
  BiasTables tables;
  return run_layer(graph, tables, starts, sampler, options, sink);
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples

// Runs any layer sampler: picks the technique, makes the tables, hands the program to the backend.
// Include this to run a sampler of your own; compile the file as CUDA to run it on a GPU too.
#pragma once

#include <string>
#include <type_traits>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/nccl.hpp"
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
#if defined(__CUDACC__)
#include "engine/samples/instance_cuda.cuh"
#include "engine/samples/partitioned/items_cuda.cuh"
#endif
#include "engine/core/build_namespace.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// The technique that layers are drawn by. Throws UsageError.
inline Select layer_select(Select select) {
  switch (select) {
    case Select::automatic:
    case Select::its:
      return Select::bipartite;  // the two-level inverse transform; clashes are redrawn
    case Select::bipartite:
    case Select::repeated:
    case Select::updated:
      return select;
    default:
      throw UsageError("--select: layer selects by its, repeated, updated or bipartite");
  }
}

template <LayerSampler Sampler>
struct LayerJob : InstanceJob<SampleSink> {
  LayerProgram<Sampler> program;
  const PageRequest* pages = nullptr;  ///< in partitions

  template <class Items>
  void in_partitions(RunStats& stats) const {
    const std::uint64_t each = paged_layer_bytes(graph.device, program.sizes, graph.paging.shard);
    const auto link = graph.link();
    run_partitioned_samples<PagedLayerGrower<Items, Sampler>>(
        graph, *pages, PagedLayerSetup<Sampler>{graph, program, stats, link.get()}, each,
        program.sampler.depth(), options, begin, end, sink, stats);
    if (link) stats.exchanged_bytes += link->bytes_sent();
  }

  void on_host(RunStats& stats) const {
    if (graph.paged) return in_partitions<host::PagedItems>(stats);
    const LayerArena arena(graph.device, program.sizes, graph.device.threads());
    host::run_blocks(
        graph.device, options, begin, end, sink, stats,
        [&](unsigned thread, Instance instance, SampleStore& out, host::BlockCounters& counters) {
          const LayerScratch slot = arena.view().at(thread);
          PickCounters picks;
          const std::uint32_t seeds = program.run(SingleLane{}, instance, slot, picks);
          append_layer(program.sizes, slot.edges, slot.depth_counts, slot.seeds, seeds, out);
          counters.iterations += picks.iterations, counters.searches += picks.searches;
          counters.selections += out.edge_counts.back();
        });
  }

#if defined(__CUDACC__)
  void on_cuda(RunStats& stats) const {
    if (graph.paged) return in_partitions<cuda::PagedItems>(stats);
    const bool hubs = graph.view.hub_count > 0, wide = program.sizes.layer > GraphView::kHubDegree;
    const std::uint64_t batch = cuda::instances_at_once(
        graph.device, LayerArena::bytes_per_slot(program.sizes) + sizeof(std::uint64_t), end - begin);
    if (graph.device.plans()) return;
    const cuda::LeftList left(graph.device, hubs ? batch : 0);
    const LayerArena arena(graph.device, program.sizes, batch);
    const Buffer<std::uint32_t> seed_counts(graph.device, batch, "counts of seeds");
    const Buffer<cuda::InstanceCounters> counters(graph.device, 1, "counters");
    const cuda::InstanceCounters zero{};
    copy_to_device(graph.device, counters.data(), &zero, sizeof zero);
    cuda::run_instance_batches(
        options, batch, begin, end, sink, stats,
        [&](Instance first, std::uint64_t count, const cuda::Stream& stream) {
          const auto grow = [=, program = program, slots = arena.view(),
                             seeds = seed_counts.data()] __device__(const auto& group, std::uint64_t index,
                                                                    PickCounters& picks) {
            using Group = std::decay_t<decltype(group)>;
            const std::uint32_t longest =
                Group::kSize > 32 || !hubs ? LayerLists::kAnyLength : GraphView::kHubDegree;
            const std::uint32_t planted = program.run(group, first + index, slots.at(index), picks, longest);
            if (planted == LayerFault::kTooLong) return false;
            if (group.rank() == 0) seeds[index] = planted;
            return true;
          };
          stats.kernel_launches +=
              wide ? cuda::launch_wide_instances(count, grow, {}, counters.data(), stream)
                   : cuda::launch_instances(count, grow, hubs ? &left : nullptr, counters.data(), stream);
        },
        [&](Instance, std::uint64_t count, SampleStore& out) {
          const LayerSizes& sizes = program.sizes;
          const auto edges = cuda::download(graph.device, arena.edges(), count * sizes.edges, stats);
          const auto depths = cuda::download(graph.device, arena.depth_counts(), count * sizes.depths, stats);
          const auto seeds = cuda::download(graph.device, arena.seeds(), count * sizes.frontier, stats);
          const auto planted = cuda::download(graph.device, seed_counts, count, stats);
          for (std::uint64_t i = 0; i < count; ++i) {
            append_layer(sizes, edges.data() + i * sizes.edges, depths.data() + i * sizes.depths,
                         seeds.data() + i * sizes.frontier, planted[i], out);
          }
        });
    cuda::InstanceCounters done{};
    copy_to_host(graph.device, &done, counters.data(), sizeof done);
    stats.selections += stats.sampled_edges;
    stats.selection_iterations += done.iterations, stats.collision_searches += done.searches;
  }
#endif
};

/// Makes what the lists of a sampler's bias are read with; `pages`: what comes with them in partitions.
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

/// Layer samples whose tables are kept in `tables`.
template <LayerSampler Sampler>
RunStats run_layer(ResidentGraph& resident, BiasTables& tables, const Starts& starts, const Sampler& sampler,
                   const SampleOptions& options, SampleSink* sink) {
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
  program.sizes = LayerSizes::of(sampler, starts.most_seeds(), options.revisit);
  if (program.sizes.layer > kMaxDraws / 2)
    throw UsageError("--layer-size: at most " + std::to_string(kMaxDraws / 2) + " edges a depth");
  const double tables_before = graph.table_seconds;
  add_layer_tables(graph, tables, pages, program);
  stats.table_seconds = graph.table_seconds - tables_before;
  const DeviceStarts device_starts(graph, starts, options.seed);
  program.starts = device_starts.view();
  run_instances(LayerJob<Sampler>{{graph, starts, options, sink}, program, &pages}, stats);
  stats.steps = stats.sampled_edges;
  return stats;
}

/// Layer samples with a sampler of your own. `options.kind` and the options of built-in kinds are ignored.
/// Errors as run_samples.
template <LayerSampler Sampler>
RunStats run_layer(ResidentGraph& graph, const Starts& starts, const Sampler& sampler,
                   const SampleOptions& options, SampleSink* sink) {
  BiasTables tables;
  return run_layer(graph, tables, starts, sampler, options, sink);
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice

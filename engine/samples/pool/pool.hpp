// Runs any pool sampler: walks of a pool of vertices, one group of lanes per instance.
// Include this header to run your own sampler; compile the including file as CUDA to run it on a GPU too.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/batch/options.hpp"
#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/build_namespace.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/samples/instance_job.hpp"
#include "engine/samples/pool/batch.hpp"
#include "engine/samples/pool/partitioned.hpp"
#include "engine/samples/pool/sampler.hpp"
#include "engine/samples/pool/step.hpp"

namespace sluice::samples {
inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

template <PoolSampler S>
struct PoolJob : InstanceRun<WalkSink> {
  using Sampler = S;

  PoolProgram<Sampler> program;
  const PageRequest* pages;  ///< read on graphs in partitions only

  std::uint64_t bytes_per_instance() const { return program.sizes().bytes(); }
  PoolRows rows(const PoolBatch& batch) const {
    const PoolSizes sizes = program.sizes();
    return {sizes,
            {batch.seeds.data(),
             batch.pool.data(),
             {batch.biases.data(), sizes.entries},
             batch.selected.data(),
             batch.targets.data(),
             batch.edges.data()}};
  }
  void emit(Instance first, std::uint64_t count, const Vertex* edges, const Vertex* seeds) const {
    WalkBatch batch{first, count, program.length, {}, {}, {}};
    const PoolSizes sizes = program.sizes();
    batch.edges = {edges, count * 2 * sizes.edges};
    batch.pool = {seeds, count * sizes.seeds};
    sink->write(batch);
  }

  /// Copies a batch's results to the host and submits them to the sink, in pieces.
  void write_results(Instance first, std::uint64_t count, const PoolBatch& memory, PoolPieces& pieces,
                     BatchWriter& writer) const {
    const std::uint64_t row = 2 * program.sizes().edges, pool = program.pool_size;
    for (std::uint64_t begin = 0; begin < count; begin += pieces.rows) {
      const std::uint64_t piece_rows = std::min(pieces.rows, count - begin);
      const double start = seconds_now();
      const PoolPieces::Piece& piece = pieces.next();
      copy_to_host(graph.device, piece.edges.data(), memory.edges.data() + begin * row,
                   piece_rows * row * sizeof(Vertex));
      copy_to_host(graph.device, piece.seeds.data(), memory.seeds.data() + begin * pool,
                   piece_rows * pool * sizeof(Vertex));
      stats.transfer_seconds += seconds_now() - start;
      writer.submit([this, first, begin, piece_rows, &piece] {
        emit(first + begin, piece_rows, piece.edges.data(), piece.seeds.data());
      });
    }
  }

  /// Plans how partitions and pools share device memory.
  PagedPlan share_memory() const {
    const std::uint64_t pool_bytes =
        bytes_per_instance() + parked_pool_bytes<Sampler>(graph.device, graph.paging.shard, program);
    return graph.plan_partitions(*pages, pool_bytes, instances(), program.length);
  }

  /// Blocks for large pools, since a pool begins with a pass over its entries; else warps.
  Groups groups() const {
    return program.sizes().entries > GraphView::kHubDegree ? Groups::blocks : Groups::warps;
  }

  template <Executor E>
  void run() const {
    graph.paged ? in_partitions<E>() : whole<E>();
  }

  template <Executor E>
  void in_partitions() const {
    PagedPlan plan = share_memory();
    if (graph.device.is_planning()) return;
    const auto link = graph.connect_ranks();
    PagedPools<PoolJob, E>(*this, std::move(plan), link.get()).run();
    if (link) stats.exchanged_bytes += link->bytes_sent();
  }

  /// A GPU's results are copied out in pieces; the host's are written in place while the next batch runs.
  template <Executor E>
  void whole() const {
    const Device& device = graph.device;
    const bool copies = device.is_cuda();
    const std::uint64_t pool_bytes = bytes_per_instance();
    const std::uint64_t batch = copies
                                    ? instances_at_once(device, pool_bytes, instances())
                                    : host_pool_batch(pool_bytes, instances(), device.memory().available());
    if (copies && device.is_planning()) return;
    const std::array<PoolBatch, 2> memory{PoolBatch(device, batch, program.sizes()),
                                          PoolBatch(device, copies ? 0 : batch, program.sizes())};
    if (device.is_planning()) return;
    PoolPieces pieces(device, copies && sink ? batch : 0, program.sizes());
    E executor(device);
    const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
      const std::size_t buffer_index = copies ? 0 : stats.batches % 2;
      const PoolRows out = rows(memory[buffer_index]);
      const RunPools<PoolProgram<Sampler>> body{out, program, first};
      const double start = seconds_now();
      executor.template for_each_group<typename decltype(body)::Counters>(count, groups(), body);
      executor.wait("pools");
      stats.compute_seconds += seconds_now() - start;
      if (!sink) return;
      if (copies) return write_results(first, count, memory[buffer_index], pieces, writer);
      writer.submit([=, this] { emit(first, count, out.base.edges, out.base.seeds); });
    };
    run_batches(EqualBatches{batch, run}, range, options.progress, stats);
    std::uint64_t sums[kGroupSums];
    executor.group_sums(sums);
    stats.steps = sums[0], stats.kernel_launches += executor.launches();
  }
};

/// Throws UsageError if random words would repeat, or numbers of entries or edges exceed 32 bits.
template <PoolSampler Sampler>
void check_pool(const PoolProgram<Sampler>& program) {
  const std::uint64_t frontier = program.frontier_size(), neighbors = program.neighbor_size();
  if (frontier == 0 || neighbors == 0 || frontier * neighbors > kMaxDraws)
    throw UsageError(
        "a pool's frontier_size and neighbor_size must be at least 1, and their product at most " +
        std::to_string(kMaxDraws));
  if (program.sizes().entries >= ~std::uint32_t{0} || program.sizes().edges >= ~std::uint32_t{0})
    throw UsageError("a pool grows to 2^32 entries or edges; use a smaller length");
}

/// Builds the tables by which neighbours are drawn; `pages` gets the columns that partitions must carry.
template <PoolSampler Sampler>
void add_pool_tables(ResidentGraph::Impl& graph, BiasTables& tables, PageRequest& pages,
                     PoolProgram<Sampler>& program) {
  pages.columns.weights = graph.graph.weighted;
  const auto bias = table_bias(program.sampler);
  program.cumulative = ctps_of(graph, tables, bias, pages);
  ensure_bounds(graph, tables, bias);
  program.positive = tables.positive.data();
}

/// Runs walks of `length` steps with your own pool sampler. Throws the same errors as run_walks.
template <PoolSampler Sampler>
RunStats run_pool(ResidentGraph& resident, const Starts& starts, const Sampler& sampler, std::uint32_t length,
                  const RunOptions& options, WalkSink* sink) {
  refuse_hooks<never_called_by_pools<Sampler>()>();
  ResidentGraph::Impl& graph = resident.impl();
  RunStats stats;
  if (options.select != Select::automatic && options.select != Select::its) {
    throw UsageError("--select: a pool's entry is picked by its");
  }
  stats.select = Select::its;
  if (sampler.pool_size() > kMaxDraws)
    throw UsageError("--frontier-size: at most " + std::to_string(kMaxDraws));
  const auto pool = static_cast<std::uint32_t>(starts.max_seeds(sampler.pool_size()));
  const DeviceStarts device_starts(graph, starts, options.seed, pool);
  PageRequest pages(graph);
  PoolJob<Sampler> job{{graph, starts, options, sink, stats},
                       {graph.view, sampler, device_starts.view(), options.seed, length, pool},
                       &pages};
  check_pool(job.program);
  BiasTables tables;
  if constexpr (HasEdgeBias<Sampler>) add_pool_tables(graph, tables, pages, job.program);
  run_instances(job);
  stats.selections = stats.sampled_edges = stats.steps;
  return stats;
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples

// Runs any pool sampler: walks of a pool of vertices, one instance a group of lanes.
// Include this to run a sampler of your own; compile the file as CUDA to run it on a GPU too.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/error.hpp"
#include "engine/drive/instance_job.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/pool_step.hpp"
#include "engine/drive/starts_upload.hpp"
#include "engine/drive/wave_writer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/select/group.hpp"
#if defined(__CUDACC__)
#include "engine/drive/instance_cuda.cuh"
#endif
#include "engine/sampling/build_namespace.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// Memory of a wave: one row an instance.
struct PoolWave {
  PoolWave(const Device& device, std::uint64_t count, std::uint32_t size, std::uint32_t length)
      : seeds(device, count * size, kPurpose),
        pool(device, count * size, kPurpose),
        biases(device, count * size, kPurpose),
        edges(device, count * 2 * length, kPurpose) {}

  static constexpr const char* kPurpose = "a wave of pools";

  Buffer<Vertex> seeds, pool;
  Buffer<std::uint64_t> biases;
  Buffer<Vertex> edges;
};

/// Host memory for results on their way to the sink: what it takes does not grow with the wave.
struct PoolPieces {
  struct Piece {
    Staging<Vertex> edges, seeds;
  };

  PoolPieces(const Device& device, std::uint64_t wave, std::uint64_t pool, std::uint64_t length) {
    constexpr std::uint64_t kMost = 32u << 20, kShare = 8;
    const std::uint64_t each = (pool + 2 * length) * sizeof(Vertex);
    rows = std::clamp<std::uint64_t>(std::min(kMost, host_accountant().available() / kShare) / each, 1, wave);
    for (Piece& piece : both) {
      piece.edges = Staging<Vertex>(device, rows * 2 * length, "pools that leave");
      piece.seeds = Staging<Vertex>(device, rows * pool, "pools that leave");
    }
  }

  /// The piece that is not being written.
  const Piece& next() { return both[turn++ % 2]; }

  std::uint64_t rows;  ///< instances in a piece
  std::uint64_t turn = 0;
  std::array<Piece, 2> both;
  WaveWriter writer;  // last: it ends before what it writes
};

/// One visit of a wave's instances to the partitions that are here.
struct PoolVisits {
  PagedLists lists;
  PoolState* states;  ///< [instances]
  Vertex* waits_at;   ///< [instances]
  bool first;         ///< nothing was done yet
};

/// Pointers of a wave, for kernels.
struct PoolRows {
  Vertex *seeds, *pool;
  std::uint64_t* biases;
  Vertex* edges;

  template <class Group, class Program>
  SLUICE_HD std::uint32_t run(const Group& group, const Program& program, Instance instance,
                              std::uint64_t row) const {
    const std::uint64_t at = row * program.pool_size;
    return program.run(group, instance, seeds + at, pool + at, biases + at, edges + row * 2 * program.length);
  }
  /// The same through the lists that are here, from where the last visit stopped. `waits_at` is the vertex
  /// whose list it needs, or kNoVertex at the end.
  template <class Group, class Program>
  SLUICE_HD void visit(const Group& group, const Program& program, Instance instance, std::uint64_t row,
                       const PoolVisits& visits) const {
    const std::uint64_t at = row * program.pool_size;
    Vertex* const path = edges + row * 2 * program.length;
    if (!visits.first && visits.waits_at[row] == kNoVertex) return;
    PoolState state = visits.first ? program.begin(group, instance, seeds + at, pool + at, biases + at)
                                   : visits.states[row];
    const Vertex waits = program.walk(group, instance, state, pool + at, biases + at, path, visits.lists);
    if (waits == kNoVertex) program.end(group, state, path);
    group.sync();
    if (group.rank() == 0) visits.states[row] = state, visits.waits_at[row] = waits;
  }
};

template <class Sampler>
struct PoolJob : InstanceJob<WalkSink> {
  PoolProgram<Sampler> program;

  std::uint64_t bytes_per_instance() const { return pool_bytes(program.pool_size, program.length); }
  static PoolRows rows(const PoolWave& wave) {
    return {wave.seeds.data(), wave.pool.data(), wave.biases.data(), wave.edges.data()};
  }
  void emit(Instance first, std::uint64_t count, const Vertex* edges, const Vertex* seeds) const {
    WalkBatch batch{first, count, program.length, {}, {}, {}};
    batch.edges = {edges, count * 2 * program.length};
    batch.pool = {seeds, count * program.pool_size};
    sink->write(batch);
  }

  /// A wave's results go to the sink, piece by piece.
  void leave(Instance first, std::uint64_t count, const PoolWave& memory, PoolPieces& pieces,
             RunStats& stats) const {
    const std::uint64_t row = 2 * std::uint64_t{program.length}, pool = program.pool_size;
    for (std::uint64_t from = 0; from < count; from += pieces.rows) {
      const std::uint64_t some = std::min(pieces.rows, count - from);
      const double leaving = seconds_now();
      const PoolPieces::Piece& piece = pieces.next();
      copy_to_host(graph.device, piece.edges.data(), memory.edges.data() + from * row,
                   some * row * sizeof(Vertex));
      copy_to_host(graph.device, piece.seeds.data(), memory.seeds.data() + from * pool,
                   some * pool * sizeof(Vertex));
      const double waiting = seconds_now();
      stats.transfer_seconds += waiting - leaving;
      pieces.writer.submit([this, first, from, some, &piece] {
        emit(first + from, some, piece.edges.data(), piece.seeds.data());
      });
      stats.write_seconds += seconds_now() - waiting;
    }
  }

  /// In partitions: every instance goes on whenever the list that it needs is here. visit(first, count,
  /// rows, visits) is the backend's.
  template <class Visit>
  void in_partitions(RunStats& stats, const Visit& visit) const {
    const PageRequest pages(graph);
    PageLoop loop(graph, pages,
                  plan_pages(graph.device, graph.graph, graph.paging, pages.columns,
                             bytes_per_instance() + kParkedPoolBytes, end - begin, program.length),
                  PageUse{.picks = 8}, stats);
    const PartitionPlan& plan = loop.plan().partitions;
    const std::uint64_t wave = std::min<std::uint64_t>(loop.plan().wave, end - begin);
    const PoolWave memory(graph.device, wave, program.pool_size, program.length);
    const Buffer<PoolState> states(graph.device, wave, PoolWave::kPurpose);
    const Buffer<Vertex> waits_at(graph.device, wave, PoolWave::kPurpose);
    ChargedVector<Vertex> at(wave);
    ChargedVector<PoolState> done(wave);
    std::vector<std::uint64_t> waiting(loop.partitions());
    PoolPieces pieces(graph.device, wave, program.pool_size, program.length);
    for (Instance first = begin; first < end; first += wave, ++stats.waves) {
      const std::uint64_t count = std::min<std::uint64_t>(wave, end - first);
      const double start = seconds_now();
      const auto go_on = [&](bool begins) {
        visit(first, count, rows(memory),
              PoolVisits{{loop.publish()}, states.data(), waits_at.data(), begins});
        copy_to_host(graph.device, at.data(), waits_at.data(), count * sizeof(Vertex));
        std::fill(waiting.begin(), waiting.end(), 0);
        for (std::uint64_t i = 0; i < count; ++i)
          if (at[i] != kNoVertex) ++waiting[plan.owner(at[i])];
      };
      go_on(true);
      loop.drain(waiting, [&](std::span<const std::uint32_t>) { go_on(false); });
      stats.compute_seconds += seconds_now() - start;
      copy_to_host(graph.device, done.data(), states.data(), count * sizeof(PoolState));
      for (std::uint64_t i = 0; i < count; ++i) stats.steps += done[i].step;
      if (sink) leave(first, count, memory, pieces, stats);
      if (options.progress) options.progress(first + count - begin, end - begin);
    }
    pieces.writer.finish();
    loop.count();
  }

  void on_host(RunStats& stats) const {
    if (graph.paged) {
      return in_partitions(
          stats, [&](Instance first, std::uint64_t count, const PoolRows& out, const PoolVisits& visits) {
            parallel_blocks(graph.device.threads(), count, 16,
                            [&](std::uint64_t from, std::uint64_t to, unsigned) {
                              for (std::uint64_t i = from; i < to; ++i)
                                out.visit(SingleLane{}, program, first + i, i, visits);
                            });
          });
    }
    const std::uint64_t wave =
        host_pool_wave(bytes_per_instance(), end - begin, graph.device.memory().available());
    const std::array<PoolWave, 2> waves{PoolWave(graph.device, wave, program.pool_size, program.length),
                                        PoolWave(graph.device, wave, program.pool_size, program.length)};
    WaveWriter writer;
    std::atomic<std::uint64_t> steps{0};
    for (Instance first = begin; first < end; first += wave, ++stats.waves) {
      const std::uint64_t count = std::min<std::uint64_t>(wave, end - first);
      const PoolRows out = rows(waves[stats.waves % 2]);
      const double start = seconds_now();
      parallel_blocks(graph.device.threads(), count, 16, [&](std::uint64_t from, std::uint64_t to, unsigned) {
        for (std::uint64_t i = from; i < to; ++i) steps += out.run(SingleLane{}, program, first + i, i);
      });
      stats.compute_seconds += seconds_now() - start;
      if (sink) writer.submit([=, this] { emit(first, count, out.edges, out.seeds); });
      if (options.progress) options.progress(first + count - begin, end - begin);
    }
    writer.finish();
    stats.steps = steps;
  }

#if defined(__CUDACC__)
  void on_cuda(RunStats& stats) const {
    if (graph.paged) return in_partitions_on_cuda(stats);
    const std::uint64_t wave = cuda::instances_at_once(graph.device, bytes_per_instance(), end - begin);
    const bool wide = program.pool_size > GraphView::kHubDegree;  // every step may look through the pool
    const PoolWave memory(graph.device, wave, program.pool_size, program.length);
    const Buffer<unsigned long long> steps(graph.device, 1, "counters");
    const unsigned long long zero = 0;
    copy_to_device(graph.device, steps.data(), &zero, sizeof zero);
    cuda::Stream stream;
    cuda::Timer timer;
    for (Instance first = begin; first < end; first += wave, ++stats.waves) {
      const std::uint64_t count = std::min<std::uint64_t>(wave, end - first);
      timer.start(stream);
      const auto walk = [=, program = program, out = rows(memory), steps = steps.data()] __device__(
                            const auto& group, std::uint64_t index, PickCounters&) {
        const std::uint32_t done = out.run(group, program, first + index, index);
        if (group.rank() == 0) atomicAdd(steps, static_cast<unsigned long long>(done));
        return true;
      };
      stats.kernel_launches += wide ? cuda::launch_wide_instances(count, walk, {}, nullptr, stream)
                                    : cuda::launch_instances(count, walk, nullptr, nullptr, stream);
      timer.stop(stream);
      stream.wait("pools");
      stats.compute_seconds += timer.seconds();
      if (sink) {
        const auto edges = cuda::download(graph.device, memory.edges, count * 2 * program.length, stats);
        const auto seeds = cuda::download(graph.device, memory.seeds, count * program.pool_size, stats);
        emit(first, count, edges.data(), seeds.data());
      }
      if (options.progress) options.progress(first + count - begin, end - begin);
    }
    unsigned long long done = 0;
    copy_to_host(graph.device, &done, steps.data(), sizeof done);
    stats.steps = done;
  }

  void in_partitions_on_cuda(RunStats& stats) const {
    const bool wide = program.pool_size > GraphView::kHubDegree;
    const cuda::Stream stream;
    in_partitions(
        stats, [&](Instance first, std::uint64_t count, const PoolRows& out, const PoolVisits& visits) {
          const auto walk = [=, program = program] __device__(const auto& group, std::uint64_t index,
                                                              PickCounters&) {
            out.visit(group, program, first + index, index, visits);
            return true;
          };
          stats.kernel_launches += wide ? cuda::launch_wide_instances(count, walk, {}, nullptr, stream)
                                        : cuda::launch_instances(count, walk, nullptr, nullptr, stream);
          stream.wait("pools");
        });
  }
#endif
};

/// Walks with a pool sampler of your own: `frontier_size` seeds, `vertex_bias(graph, v)` says how likely an
/// entry is picked (0 where v has no neighbour; it may read degrees only), and a uniform neighbour takes its
/// place. Errors as run_walks.
template <class Sampler>
RunStats run_pool(ResidentGraph& resident, const Starts& starts, const Sampler& sampler,
                  const WalkOptions& options, WalkSink* sink) {
  ResidentGraph::Impl& graph = resident.impl();
  RunStats stats;
  if (options.select != Select::automatic && options.select != Select::its) {
    throw UsageError("--select: a pool's entry is picked by its");
  }
  stats.select = Select::its;
  if (sampler.frontier_size > kMaxDraws)
    throw UsageError("--frontier-size: at most " + std::to_string(kMaxDraws));
  const auto pool = static_cast<std::uint32_t>(starts.most_seeds(sampler.frontier_size));
  const DeviceStarts device_starts(graph, starts, options.seed, pool);
  const PoolJob<Sampler> job{{graph, starts, options, sink},
                             {graph.view, sampler, device_starts.view(), options.seed, options.length, pool}};
  run_instances(job, stats);
  stats.selections = stats.sampled_edges = stats.steps;
  return stats;
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice

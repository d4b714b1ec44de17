#include "engine/samples/collect.hpp"

#include <algorithm>
#include <numeric>

#include "engine/batch/batch_writer.hpp"
#include "engine/core/clock.hpp"
#include "engine/exec/cuda_executor.cuh"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/next_level.cuh"
#include "engine/samples/options.hpp"

namespace sluice::samples::cuda {

namespace {

/// Writes an edge of a level to its place among the edges of its instance.
struct ScatterSampled {
  GraphView graph;
  LevelView level;
  std::int32_t depth;
  const std::uint64_t* bases;  ///< [instances] edges of earlier instances
  Vertex *source, *target;
  std::int32_t* depths;
  EdgeIndex* position;

  __device__ void operator()(std::uint64_t edge, CudaLane&) const {
    const FrontierEntry entry = level.frontier[level.owner(edge)];
    const std::uint64_t index = bases[entry.instance] + level.edges_before(entry.instance, edge);
    source[index] = entry.vertex;
    target[index] = level.targets[edge];
    depths[index] = depth;
    position[index] = level.position(graph, entry.vertex, edge);
  }
};

struct CopyVertices {
  const FrontierEntry* frontier;
  Vertex* vertices;

  __device__ void operator()(std::uint64_t entry_id, CudaLane&) const {
    vertices[entry_id] = frontier[entry_id].vertex;
  }
};

template <class T>
void download(const Device& device, const Buffer<T>& source, std::uint64_t count, ChargedVector<T>& target,
              RunStats& stats) {
  target.resize(count);
  copy_to_host(device, target.data(), source.data(), count * sizeof(T));
  stats.device_to_host_bytes += count * sizeof(T);
}

}  // namespace

void collect_samples(const Device& device, CudaExecutor& executor, const GraphView& graph,
                     std::span<const SampleLevel> levels, Instance first, std::uint64_t count,
                     SampleStore& out, RunStats& stats) {
  const double begin = seconds_now();
  const SampleLevel& seeds = levels.front();
  levels = levels.first(levels.size() - 1);
  std::uint64_t edges = 0;
  for (const SampleLevel& level : levels) edges += level.edges;
  Buffer<std::uint64_t> bases(device, count + 1, kSampleBatch);
  if (levels.empty()) {
    executor.fill(bases.data(), 0, bases.bytes());
  } else {
    executor.for_each(count, {},
                      NextInstances{view_of(levels.back()), count, nullptr, bases.data(), nullptr});
  }
  executor.wait("samples");
  out.first = first;
  download(device, bases, count, out.edge_counts, stats);
  executor.exclusive_sum(bases.data(), count);
  const Buffer<Vertex> source(device, edges, kSampleBatch), target(device, edges, kSampleBatch);
  const Buffer<std::int32_t> depth(device, edges, kSampleBatch);
  const Buffer<EdgeIndex> position(device, edges, kSampleBatch);
  for (std::size_t d = 0; d < levels.size(); ++d) {
    executor.for_each(
        levels[d].edges, {},
        ScatterSampled{graph, view_of(levels[d]), static_cast<std::int32_t>(d + 1), bases.data(),
                       source.data(), target.data(), depth.data(), position.data()});
  }
  const Buffer<Vertex> vertices(device, seeds.entries, kSampleBatch);
  executor.for_each(seeds.entries, {}, CopyVertices{seeds.frontier.data(), vertices.data()});
  executor.wait("samples");
  download(device, source, edges, out.source, stats);
  download(device, target, edges, out.target, stats);
  download(device, depth, edges, out.depth, stats);
  download(device, position, edges, out.edge, stats);
  download(device, vertices, seeds.entries, out.seeds, stats);
  download(device, seeds.instance_entries, count + 1, out.seed_counts, stats);
  std::adjacent_difference(out.seed_counts.begin(), out.seed_counts.end(), out.seed_counts.begin());
  out.seed_counts.erase(out.seed_counts.begin());
  stats.transfer_seconds += seconds_now() - begin;
}

std::uint64_t expected_edges(const Options& options) {
  if (options.kind != Kind::neighbor) return 0;
  std::uint64_t frontier = 1, edges = 0;
  for (const std::int64_t fanout : options.fanout) {
    if (fanout < 0 || fanout > (1 << 20) || frontier > (1u << 20)) return 0;
    frontier *= static_cast<std::uint64_t>(fanout);
    edges += frontier;
  }
  return edges;
}

BatchSizer::BatchSizer(std::uint64_t free_bytes, std::uint64_t expected, bool with_sink,
                       std::uint64_t instances) {
  constexpr std::uint64_t kEdgeBytes = 4 + 4 + 4;  // index, target, owner
  constexpr std::uint64_t kFrontierBytes =
      8 + 16 + 64;  // flag, next entry, up to four slots of the visited table
  constexpr std::uint64_t kPlacedBytes = 20;
  constexpr std::uint64_t kFirstBatch = 1024;
  constexpr std::uint64_t kMaxEdges = std::uint64_t{1} << 31;
  const std::uint64_t usable = free_bytes / 2;
  const std::uint64_t edge_bytes = kEdgeBytes + (with_sink ? kPlacedBytes : 0);
  if (expected == 0) {
    limit_ = std::max<std::uint64_t>(instances, 1);
    batch_ = std::min(limit_, kFirstBatch);
    return;
  }
  const std::uint64_t bytes = expected * edge_bytes + 64 + (expected / 8 + 1) * kFrontierBytes;
  std::uint64_t batch = std::min(usable / bytes, kMaxEdges / expected);
  if (with_sink) batch = std::min(batch, kGpuResultBytes / (expected * kPlacedBytes) + 1);
  batch_ = limit_ = std::clamp<std::uint64_t>(batch, 1, std::max<std::uint64_t>(instances, 1));
}

void BatchSizer::adapt(std::uint64_t staged) {
  if (staged <= kGpuResultBytes / 2) batch_ = std::min(batch_ * 2, limit_);
}

}  // namespace sluice::samples::cuda

#include "engine/samples/collect.hpp"

#include <algorithm>

#include "engine/batch/batch_writer.hpp"
#include "engine/exec/algorithms/scan.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/samples/next_level.cuh"
#include "engine/samples/options.hpp"
#include "engine/samples/visited_table.cuh"
#include "engine/select/group_set.hpp"

namespace sluice::samples::cuda {

namespace {

constexpr const char* kPurpose = "a batch of samples";

// ---- kernels

/// One seed an instance.
__global__ void single_seed_kernel(StartsView starts, Instance first, std::uint64_t count, bool revisit,
                                   FrontierEntry* frontier, std::uint64_t* seed_counts) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const Vertex seed = starts.start(first + i);
  frontier[i] = {static_cast<std::uint32_t>(i), seed, revisit ? 0 : seed};
  seed_counts[i] = 1;
}

__global__ void count_seeds_kernel(StartsView starts, Instance first, std::uint64_t count,
                                   std::uint64_t* counts) {
  const std::uint64_t i = thread_index();
  if (i < count) counts[i] = starts.count(first + i);
}

/// Listed seeds with repetitions, and each one's stamp.
__global__ void list_seeds_kernel(StartsView starts, Instance first, std::uint64_t count,
                                  const std::uint64_t* offsets, FrontierEntry* listed, VisitedTable table) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  for (std::uint64_t at = offsets[i]; at < offsets[i + 1]; ++at) {
    const Vertex seed = starts.seed_vertex(first + i, at - offsets[i]);
    listed[at] = {static_cast<std::uint32_t>(i), seed, 0};
    table.reach(static_cast<std::uint32_t>(i), seed, at + 1);
  }
}

__global__ void flag_seeds_kernel(const FrontierEntry* listed, std::uint64_t size, VisitedTable table,
                                  std::uint64_t* flags, std::uint64_t* seed_counts) {
  const std::uint64_t at = thread_index();
  if (at >= size) return;
  const bool first = table.stamp(listed[at].instance, listed[at].vertex) == at + 1;
  flags[at] = first;
  if (first) atomicAdd(reinterpret_cast<unsigned long long*>(seed_counts + listed[at].instance), 1ull);
}

__global__ void keep_seeds_kernel(const FrontierEntry* listed, std::uint64_t size, const std::uint64_t* sums,
                                  const std::uint64_t* begins, bool revisit, FrontierEntry* frontier) {
  const std::uint64_t at = thread_index();
  if (at >= size || sums[at + 1] == sums[at]) return;
  FrontierEntry entry = listed[at];
  entry.slot = revisit ? sums[at] - sums[begins[entry.instance]] : entry.vertex;
  frontier[sums[at]] = entry;
}

/// An edge of a level to its place in its instance.
__global__ void place_kernel(GraphView graph, LevelView level, std::int32_t depth, const std::uint64_t* bases,
                             Vertex* source, Vertex* target, std::int32_t* depths, EdgeIndex* position) {
  const std::uint64_t edge = thread_index();
  if (edge >= level.edges) return;
  const FrontierEntry entry = level.frontier[level.owner(edge)];
  const std::uint64_t to =
      bases[entry.instance] + level.before[entry.instance] + (edge - level.begins[entry.instance]);
  source[to] = entry.vertex;
  target[to] = level.targets[edge];
  depths[to] = depth;
  position[to] = level.position(graph, entry.vertex, edge);
}

__global__ void vertices_kernel(const FrontierEntry* frontier, std::uint64_t count, Vertex* vertices) {
  const std::uint64_t at = thread_index();
  if (at < count) vertices[at] = frontier[at].vertex;
}

// ---- launchers

template <class Kernel, class... Args>
void launch(const char* name, const Stream& stream, RunStats& stats, Kernel kernel, std::uint64_t threads,
            Args... args) {
  kernel<<<grid_for(threads, kSampleBlock), kSampleBlock, 0, stream.get()>>>(args...);
  check_launch(name);
  ++stats.kernel_launches;
}

void plant_listed(const Device& device, const StartsView& starts, Instance first, std::uint64_t count,
                  bool revisit, SampleWorkspace& memory, BatchSeeds& seeds, const Stream& stream,
                  RunStats& stats) {
  SampleLevel& level = memory.levels[0];
  Buffer<std::uint64_t> offsets(device, count + 1, kPurpose);
  launch("count_seeds_kernel", stream, stats, count_seeds_kernel, count, starts, first, count,
         offsets.data());
  exclusive_sum(device, offsets.data(), offsets.data(), count, memory.scan, stream.get());
  const std::uint64_t listed_count = read_count(offsets.data() + count, memory, stream);
  const Buffer<FrontierEntry> listed(device, listed_count, kPurpose);
  const VisitedTable table = clear_visited(device, listed_count, memory, stream);
  launch("list_seeds_kernel", stream, stats, list_seeds_kernel, count, starts, first, count, offsets.data(),
         listed.data(), table);
  memory.flags.reserve(device, listed_count + 1, kPurpose);
  check(cudaMemsetAsync(seeds.counts.data(), 0, count * sizeof(std::uint64_t), stream.get()),
        "clearing counts");
  launch("flag_seeds_kernel", stream, stats, flag_seeds_kernel, listed_count, listed.data(), listed_count,
         table, memory.flags.data(), seeds.counts.data());
  exclusive_sum(device, memory.flags.data(), memory.flags.data(), listed_count, memory.scan, stream.get());
  level.entries = read_count(memory.flags.data() + listed_count, memory, stream);
  level.frontier.reserve(device, level.entries, kPurpose);
  launch("keep_seeds_kernel", stream, stats, keep_seeds_kernel, listed_count, listed.data(), listed_count,
         memory.flags.data(), offsets.data(), revisit, level.frontier.data());
  stream.wait("seeds");
}

template <class T>
void download(const Device& device, const T* from, std::uint64_t count, ChargedVector<T>& to,
              RunStats& stats) {
  to.resize(count);
  copy_to_host(device, to.data(), from, count * sizeof(T));
  stats.device_to_host_bytes += count * sizeof(T);
}

}  // namespace

std::uint64_t read_count(const std::uint64_t* from, SampleWorkspace& memory, const Stream& stream) {
  check(
      cudaMemcpyAsync(memory.total.data(), from, sizeof(std::uint64_t), cudaMemcpyDeviceToHost, stream.get()),
      "reading a count");
  stream.wait("samples");
  return *memory.total.data();
}

VisitedTable clear_visited(const Device& device, std::uint64_t keys, SampleWorkspace& memory,
                           const Stream& stream) {
  const std::uint64_t slots = set_capacity(keys);
  memory.visited.reserve(device, slots * sizeof(VisitedSlot), "visited vertices");
  check(cudaMemsetAsync(memory.visited.data(), 0xff, slots * sizeof(VisitedSlot), stream.get()),
        "clearing visited vertices");
  return {reinterpret_cast<VisitedSlot*>(memory.visited.data()), slots - 1};
}

void plant_seeds(const Device& device, const StartsView& starts, Instance first, std::uint64_t count,
                 bool revisit, SampleWorkspace& memory, BatchSeeds& seeds, const Stream& stream,
                 RunStats& stats) {
  SampleLevel& level = memory.levels[0];
  level.entries = 0;
  if (count == 0) return;  // a rank whose batch only others have a part of
  seeds.counts.reserve(device, count, kPurpose);
  level.before.reserve(device, count, kPurpose);
  check(cudaMemsetAsync(level.before.data(), 0, count * sizeof(std::uint64_t), stream.get()),
        "clearing counts");
  if (starts.offsets)
    return plant_listed(device, starts, first, count, revisit, memory, seeds, stream, stats);
  level.entries = count;
  level.frontier.reserve(device, count, kPurpose);
  launch("single_seed_kernel", stream, stats, single_seed_kernel, count, starts, first, count, revisit,
         level.frontier.data(), seeds.counts.data());
}

void collect_samples(ResidentGraph::Impl& graph, const SampleWorkspace& memory, std::uint32_t depths,
                     const BatchSeeds& seeds, Instance first, std::uint64_t count, SampleStore& out,
                     RunStats& stats) {
  const double begin = seconds_now();
  const Device& device = graph.device;
  const Stream stream;
  Buffer<std::uint64_t> totals(device, count + 1, kPurpose);
  std::uint64_t edges = 0;
  for (std::uint32_t d = 0; d < depths; ++d) edges += memory.levels[d].edges;
  if (depths == 0) {
    check(cudaMemsetAsync(totals.data(), 0, totals.bytes(), stream.get()), "clearing counts");
  } else {
    launch("advance_kernel", stream, stats, advance_kernel, count, view_of(memory.levels[depths - 1]),
           totals.data(), count);
  }
  stream.wait("samples");
  out.first = first;
  download(device, totals.data(), count, out.edge_counts, stats);
  Buffer<unsigned char> scratch;
  exclusive_sum(device, totals.data(), totals.data(), count, scratch, stream.get());
  const Buffer<Vertex> source(device, edges, kPurpose), target(device, edges, kPurpose);
  const Buffer<std::int32_t> depth(device, edges, kPurpose);
  const Buffer<EdgeIndex> position(device, edges, kPurpose);
  for (std::uint32_t d = 0; d < depths; ++d) {
    const SampleLevel& level = memory.levels[d];
    launch("place_kernel", stream, stats, place_kernel, level.edges, graph.view, view_of(level),
           static_cast<std::int32_t>(d + 1), totals.data(), source.data(), target.data(), depth.data(),
           position.data());
  }
  const std::uint64_t seed_total = memory.levels.empty() ? 0 : memory.levels[0].entries;
  const Buffer<Vertex> vertices(device, seed_total, kPurpose);
  launch("vertices_kernel", stream, stats, vertices_kernel, seed_total, memory.levels[0].frontier.data(),
         seed_total, vertices.data());
  stream.wait("samples");
  download(device, source.data(), edges, out.source, stats);
  download(device, target.data(), edges, out.target, stats);
  download(device, depth.data(), edges, out.depth, stats);
  download(device, position.data(), edges, out.edge, stats);
  download(device, seeds.counts.data(), count, out.seed_counts, stats);
  download(device, vertices.data(), seed_total, out.seeds, stats);
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
  constexpr std::uint64_t kUnknownFirst = 1024;
  constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 31;
  const std::uint64_t usable = free_bytes / 2;
  const std::uint64_t each = kEdgeBytes + (with_sink ? kPlacedBytes : 0);
  if (expected == 0) {
    limit_ = std::max<std::uint64_t>(instances, 1);
    batch_ = std::min(limit_, kUnknownFirst);
    return;
  }
  const std::uint64_t bytes = expected * each + 64 + (expected / 8 + 1) * kFrontierBytes;
  std::uint64_t batch = std::min(usable / bytes, kMostEdges / expected);
  if (with_sink) batch = std::min(batch, kLeavingBytes / (expected * kPlacedBytes) + 1);
  batch_ = limit_ = std::clamp<std::uint64_t>(batch, 1, std::max<std::uint64_t>(instances, 1));
}

void BatchSizer::learn(std::uint64_t staged) {
  if (staged <= kLeavingBytes / 2) batch_ = std::min(batch_ * 2, limit_);
}

}  // namespace sluice::samples::cuda

// One-pass samples, compiled: for the host, and for the GPU where CUDA is built.
#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/group.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/read_targets.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/instance_job.hpp"
#include "engine/samples/kinds/edge.hpp"
#include "engine/samples/kinds/node.hpp"
#include "engine/samples/one_pass/partitioned_node.hpp"
#include "engine/samples/one_pass/step.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/partitioned/edge_questions.hpp"
#include "engine/samples/partitioned/partitioned_samples.hpp"
#include "engine/sampling/builtin_samples.hpp"
#if defined(__CUDACC__)
#include "engine/samples/instance_cuda.cuh"
#include "engine/samples/partitioned/items_cuda.cuh"
#endif

namespace sluice {

namespace {

constexpr const char* kPurpose = "scratch of one-pass samples";

#if defined(__CUDACC__)
/// Does a warp leave this vertex's list to a block?
template <class Group>
__device__ __forceinline__ bool leaves_hub(const Group&, const GraphView& graph, Vertex v) {
  return Group::kSize <= 32 && graph.degree(v) > GraphView::kHubDegree;
}
#endif

struct OnePassJob : InstanceJob<SampleSink> {
  OnePassProgram program;
  bool nodes;  ///< `node`; else `edge`, whose targets are read where the host has them

  template <class Items>
  void in_partitions(RunStats& stats) const {
    const std::uint64_t each = paged_node_bytes(graph.device, graph.graph, program.count, graph.paging.shard,
                                                graph.device.memory().available());
    const auto link = graph.link();
    run_partitioned_samples<PagedNodeGrower<Items>>(graph, PageRequest(graph),
                                                    PagedNodeSetup{graph, program, stats, link.get()}, each,
                                                    1, options, begin, end, sink, stats);
    if (link) stats.exchanged_bytes += link->bytes_sent();
  }

  void on_host(RunStats& stats) const {
    if (graph.paged && nodes) return in_partitions<host::PagedItems>(stats);
    if (graph.paging.shard && !nodes) return edges_of_ranks_on_host(stats);
    const unsigned threads = graph.device.threads();
    const Buffer<std::uint64_t> values(graph.device, threads * program.count, kPurpose);
    const Buffer<std::uint64_t> slots(graph.device, threads * program.capacity, kPurpose);
    std::atomic<std::uint64_t> read{0};
    host::run_blocks(
        graph.device, options, begin, end, sink, stats,
        [&](unsigned thread, Instance instance, SampleStore& out, host::BlockCounters& counters) {
          std::uint64_t* const drawn = values.data() + thread * program.count;
          std::uint64_t* const set = slots.data() + thread * program.capacity;
          program.draw(SingleLane{}, instance, drawn, set);
          counters.selections += program.count;
          nodes ? append_nodes(drawn, set, out) : static_cast<void>(read += append_edges(drawn, out));
        });
    stats.read_bytes += read;
  }

  void append_nodes(const std::uint64_t* vertices, std::uint64_t* set, SampleStore& out) const {
    const std::size_t before = out.edge.size();
    for (std::uint64_t i = 0; i < program.count; ++i) {
      const auto v = static_cast<Vertex>(vertices[i]);
      out.vertices.push_back(v);
      program.induced(SingleLane{}, v, set, [&](std::uint64_t, const Edge& edge) {
        out.add_edge(v, edge.target, 1, edge.position);
      });
    }
    out.vertex_counts.push_back(program.count);
    out.seed_counts.push_back(0);
    out.edge_counts.push_back(out.edge.size() - before);
  }

  /// Edges at ascending positions. Returns the bytes that came from a file.
  std::uint64_t append_edges(const std::uint64_t* positions, SampleStore& out) const {
    std::vector<Vertex> targets(program.count);
    const std::uint64_t read = read_targets(graph.graph, {positions, program.count}, targets);
    append_edges(positions, targets.data(), out);
    return read;
  }
  void append_edges(const std::uint64_t* positions, const Vertex* targets, SampleStore& out) const {
    OnePassProgram local = program;
    local.graph.csr.offsets = graph.graph.out.offsets.data();
    for (std::uint64_t i = 0; i < program.count; ++i)
      out.add_edge(local.source_of(positions[i]), targets[i], 1, positions[i]);
    out.seed_counts.push_back(0);
    out.edge_counts.push_back(program.count);
  }

  /// `edge` over ranks that share out the graph: each reads what is drawn of its part of the edges.
  /// draw(first, count, values) draws positions of instances [first, first + count).
  template <class Draw>
  void edges_of_ranks(RunStats& stats, const Draw& draw) const {
    if (graph.device.plans()) return;
    constexpr std::uint64_t kBatchBytes = 16u << 20;  // of results
    Communicator& ranks = *graph.paging.shard;
    const std::uint64_t each =
        program.count * (sizeof(Vertex) * 3 + sizeof(std::int32_t) + sizeof(EdgeIndex));
    const std::uint64_t batch =
        std::min<std::uint64_t>(std::max<std::uint64_t>(kBatchBytes / each, 1), end - begin);
    HostArray<std::uint64_t> values(batch * program.count, kPurpose);
    HostArray<Vertex> targets(batch * program.count, kPurpose);
    std::vector<EdgeIndex> first_edges;
    for (const std::uint64_t vertex : graph.makers.begins())
      first_edges.push_back(graph.graph.out.offsets[vertex]);
    EdgeQuestions questions(ranks, Ownership(std::move(first_edges)), stats);
    const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
      const double start = seconds_now();
      draw(first, count, values.data());
      const std::uint64_t drawn = count * program.count;
      questions.ask({values.data(), drawn}, {targets.data(), drawn},
                    [&](std::span<const EdgeIndex> asked, std::span<Vertex> found) {
                      stats.read_bytes += read_targets(graph.graph, asked, found);
                    });
      const auto store = std::make_shared<SampleStore>();
      store->first = first;
      for (std::uint64_t i = 0; i < count; ++i)
        append_edges(values.data() + i * program.count, targets.data() + i * program.count, *store);
      stats.compute_seconds += seconds_now() - start;
      stats.selections += drawn, stats.sampled_edges += drawn;
      if (sink && count > 0) writer.submit([store, this] { sink->write(store->batch()); });
    };
    run_batches(EvenBatches{batch, run, &ranks}, {begin, end}, options.progress, stats);
  }

  void edges_of_ranks_on_host(RunStats& stats) const {
    const unsigned threads = graph.device.threads();
    const Buffer<std::uint64_t> slots(graph.device, threads * program.capacity, kPurpose);
    edges_of_ranks(stats, [&](Instance first, std::uint64_t count, std::uint64_t* values) {
      parallel_blocks(threads, count, 1, [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
        for (std::uint64_t i = from; i < to; ++i)
          program.draw(SingleLane{}, first + i, values + i * program.count,
                       slots.data() + thread * program.capacity);
      });
    });
  }

#if defined(__CUDACC__)
  void on_cuda(RunStats& stats) const {
    if (graph.paged && nodes) return in_partitions<cuda::PagedItems>(stats);
    if (graph.paging.shard && !nodes) return edges_of_ranks_on_cuda(stats);
    const std::uint64_t hubs_drawn =
        nodes ? std::min<std::uint64_t>(graph.view.hub_count, program.count) : 0;  // at most, an instance
    const std::uint64_t bytes =
        (program.count * (nodes ? 3 : 1) + program.capacity + hubs_drawn) * sizeof(std::uint64_t);
    const std::uint64_t batch = cuda::instances_at_once(graph.device, bytes, end - begin);
    if (graph.device.plans()) return;
    const Buffer<std::uint64_t> values(graph.device, batch * program.count, kPurpose);
    const Buffer<std::uint64_t> slots(graph.device, batch * program.capacity, kPurpose);
    const Buffer<std::uint64_t> counts(graph.device, nodes ? batch * program.count : 0, kPurpose);
    const Buffer<std::uint64_t> offsets(graph.device, nodes ? batch * program.count : 0, kPurpose);
    const cuda::LeftList left(graph.device, batch * hubs_drawn);
    cuda::run_instance_batches(
        options, batch, begin, end, sink, stats,
        [&](Instance first, std::uint64_t count, const cuda::Stream& stream) {
          draw_on_cuda(first, count, values.data(), slots.data(), stream, stats);
          if (!nodes) return;
          const auto measure = [=, program = program, values = values.data(), slots = slots.data(),
                                counts = counts.data()] __device__(const auto& group, std::uint64_t at,
                                                                   PickCounters&) {
            const auto v = static_cast<Vertex>(values[at]);
            if (leaves_hub(group, program.graph, v)) return false;
            const std::uint64_t edges = program.induced(
                group, v, slots + at / program.count * program.capacity, [](std::uint64_t, const Edge&) {});
            if (group.rank() == 0) counts[at] = edges;
            return true;
          };
          stats.kernel_launches += cuda::launch_instances(count * program.count, measure,
                                                          hubs_drawn > 0 ? &left : nullptr, nullptr, stream);
        },
        [&](Instance, std::uint64_t count, SampleStore& out) {
          const auto drawn = cuda::download(graph.device, values, count * program.count, stats);
          nodes ? collect_nodes(count, drawn, values, slots, counts, offsets,
                                hubs_drawn > 0 ? &left : nullptr, out, stats)
                : collect_edges(count, drawn, out, stats);
          stats.selections += count * program.count;
        });
  }

  /// One group an instance, each with its place in `values` and `slots`.
  void draw_on_cuda(Instance first, std::uint64_t count, std::uint64_t* values, std::uint64_t* slots,
                    const cuda::Stream& stream, RunStats& stats) const {
    const auto draw = [=, program = program] __device__(const auto& group, std::uint64_t index,
                                                        PickCounters&) {
      program.draw(group, first + index, values + index * program.count, slots + index * program.capacity);
      return true;
    };
    const bool wide = program.count > GraphView::kHubDegree;
    stats.kernel_launches += wide ? cuda::launch_wide_instances(count, draw, {}, nullptr, stream)
                                  : cuda::launch_instances(count, draw, nullptr, nullptr, stream);
  }

  void edges_of_ranks_on_cuda(RunStats& stats) const {
    const std::uint64_t bytes = (program.count + program.capacity) * sizeof(std::uint64_t);
    const std::uint64_t at_once = cuda::instances_at_once(graph.device, bytes, end - begin);
    const Buffer<std::uint64_t> drawn(graph.device, at_once * program.count, kPurpose);
    const Buffer<std::uint64_t> slots(graph.device, at_once * program.capacity, kPurpose);
    if (graph.device.plans()) return;
    const cuda::Stream stream;
    edges_of_ranks(stats, [&](Instance first, std::uint64_t count, std::uint64_t* values) {
      for (std::uint64_t from = 0; from < count; from += at_once) {
        const std::uint64_t some = std::min(at_once, count - from);
        draw_on_cuda(first + from, some, drawn.data(), slots.data(), stream, stats);
        stream.wait("samples");
        copy_to_host(graph.device, values + from * program.count, drawn.data(),
                     some * program.count * sizeof(std::uint64_t));
      }
    });
  }

  void collect_edges(std::uint64_t count, const std::vector<std::uint64_t>& drawn, SampleStore& out,
                     RunStats& stats) const {
    for (std::uint64_t i = 0; i < count; ++i)
      stats.read_bytes += append_edges(drawn.data() + i * program.count, out);
  }

  void collect_nodes(std::uint64_t count, const std::vector<std::uint64_t>& drawn,
                     const Buffer<std::uint64_t>& values, const Buffer<std::uint64_t>& slots,
                     const Buffer<std::uint64_t>& counts, const Buffer<std::uint64_t>& offsets,
                     const cuda::LeftList* left, SampleStore& out, RunStats& stats) const {
    std::vector<std::uint64_t> sums = cuda::download(graph.device, counts, drawn.size(), stats);
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t before = total;
      for (std::uint64_t j = i * program.count; j < (i + 1) * program.count; ++j) {
        total += sums[j];
        sums[j] = total - sums[j];
        out.vertices.push_back(static_cast<Vertex>(drawn[j]));
      }
      out.vertex_counts.push_back(program.count);
      out.seed_counts.push_back(0);
      out.edge_counts.push_back(total - before);
    }
    copy_to_device(graph.device, offsets.data(), sums.data(), sums.size() * sizeof(std::uint64_t));
    const Buffer<Edge> edges(graph.device, total, "edges between drawn vertices");
    const cuda::Stream stream;
    const auto write = [program = program, values = values.data(), slots = slots.data(),
                        offsets = offsets.data(),
                        edges = edges.data()] __device__(const auto& group, std::uint64_t at, PickCounters&) {
      const auto v = static_cast<Vertex>(values[at]);
      if (leaves_hub(group, program.graph, v)) return false;
      program.induced(group, v, slots + at / program.count * program.capacity,
                      [&](std::uint64_t order, const Edge& edge) { edges[offsets[at] + order] = edge; });
      return true;
    };
    stats.kernel_launches += cuda::launch_instances(drawn.size(), write, left, nullptr, stream);
    stream.wait("edges between drawn vertices");
    for (const Edge& edge : cuda::download(graph.device, edges, total, stats)) {
      out.add_edge(edge.source, edge.target, 1, edge.position);
    }
  }
#endif
};

template <class Sampler>
RunStats run_one_pass(ResidentGraph& resident, const Sampler& sampler, const Starts& starts,
                      const SampleOptions& options, SampleSink* sink) {
  constexpr bool nodes = Sampler::kDrawsVertices;
  ResidentGraph::Impl& graph = resident.impl();
  RunStats stats;
  if (options.select != Select::automatic)
    throw UsageError("--select: node and edge are drawn uniformly; leave it out");
  OnePassProgram program{graph.view, options.seed, options.count, sampler.universe(graph.view), 0};
  if (program.count > program.universe) {
    throw InputError("--count: " + std::to_string(program.count) + " distinct " +
                     (nodes ? "vertices" : "edges") + " are asked for, but the graph has " +
                     std::to_string(program.universe));
  }
  program.capacity = set_capacity(program.count);
  run_instances(OnePassJob{{graph, starts, options, sink}, program, nodes}, stats);
  stats.steps = stats.sampled_edges;
  return stats;
}

}  // namespace

RunStats run_node(ResidentGraph& graph, const Starts& starts, const SampleOptions& options,
                  SampleSink* sink) {
  return run_one_pass(graph, NodeSample{}, starts, options, sink);
}

RunStats run_edge(ResidentGraph& graph, const Starts& starts, const SampleOptions& options,
                  SampleSink* sink) {
  return run_one_pass(graph, EdgeSample{}, starts, options, sink);
}

}  // namespace sluice

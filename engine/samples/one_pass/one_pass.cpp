// One-pass samples, compiled for the host and, in CUDA builds, for the GPU.
#include "engine/samples/one_pass/one_pass.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/batch/run_batches.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/group.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/read_targets.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/instance_job.hpp"
#include "engine/samples/one_pass/partitioned_node.hpp"
#include "engine/samples/one_pass/step.hpp"
#include "engine/samples/partitioned/edge_questions.hpp"
#include "engine/samples/partitioned/partitioned_samples.hpp"

namespace sluice::samples {

namespace {

constexpr const char* kPurpose = "scratch of one-pass samples";

/// Draws the edge positions of instances from `first` on, each in its part of `values` and `sets`; if the
/// device has the edges, also looks up their ends.
struct DrawEdges {
  OnePassProgram program;
  Instance first;
  std::uint64_t *values, *sets;
  Vertex *sources, *targets;  ///< null: the device does not have the edges

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t index, PickCounters&) const {
    const std::uint64_t begin = index * program.count, end = begin + program.count;
    program.draw(group, first + index, values + begin, sets + index * program.capacity);
    if (sources == nullptr) return true;
    group.sync();
    for (std::uint64_t i = begin + group.rank(); i < end; i += Group::kSize) {
      sources[i] = program.source_of(values[i]);
      targets[i] = program.graph.target(values[i]);
    }
    return true;
  }
};

struct OnePassJob : InstanceRun<SampleSink> {
  OnePassProgram program;
  bool draws_nodes;  ///< `node`; else `edge`, whose ends a GPU that has all edges looks up, else the host

  template <Executor E>
  void run() const {
    if (graph.paged && draws_nodes) return nodes_in_partitions<E>();
    if (graph.paging.shard && !draws_nodes) return edges_in_batches<E>();
    if (!graph.device.is_cuda()) return in_blocks();
    draws_nodes ? nodes_in_batches<E>() : edges_in_batches<E>();
  }

  template <Executor E>
  void nodes_in_partitions() const {
    const std::uint64_t instance_bytes = paged_node_bytes(
        graph.device, graph.graph, program.count, graph.paging.shard, graph.device.memory().available());
    run_partitioned_samples<PagedNodeGrower<PagedItems<E>>>(*this, PagedSetup{graph, program, stats},
                                                            PageRequest(graph), instance_bytes, 1);
  }

  /// On the host: each thread grows one instance at a time.
  void in_blocks() const {
    const unsigned threads = graph.device.threads();
    const Buffer<std::uint64_t> values(graph.device, threads * program.count, kPurpose);
    const Buffer<std::uint64_t> slots(graph.device, threads * program.capacity, kPurpose);
    if (graph.device.is_planning() && !draws_nodes)
      host_budget().charge_and_release(store_bytes(), "a sample");
    std::atomic<std::uint64_t> read{0};
    host::run_blocks(
        *this, [&](unsigned thread, Instance instance, SampleStore& out, host::BlockCounters& counters) {
          std::uint64_t* const drawn = values.data() + thread * program.count;
          std::uint64_t* const set = slots.data() + thread * program.capacity;
          program.draw(SingleLane{}, instance, drawn, set);
          counters.selections += program.count;
          draws_nodes ? append_nodes(drawn, set, out) : static_cast<void>(read += append_edges(drawn, out));
        });
    stats.read_bytes += read;
  }

  void append_nodes(const std::uint64_t* vertices, std::uint64_t* set, SampleStore& out) const {
    const std::size_t first_edge = out.edge.size();
    for (std::uint64_t i = 0; i < program.count; ++i) {
      const auto v = static_cast<Vertex>(vertices[i]);
      out.vertices.push_back(v);
      program.induced(SingleLane{}, v, set, [&](std::uint64_t, const Edge& edge) {
        out.add_edge(v, edge.target, 1, edge.position);
      });
    }
    out.vertex_counts.push_back(program.count);
    out.seed_counts.push_back(0);
    out.edge_counts.push_back(out.edge.size() - first_edge);
  }

  /// Appends the edges at ascending positions. Returns the bytes read from a file.
  std::uint64_t append_edges(const std::uint64_t* positions, SampleStore& out) const {
    std::vector<Vertex> targets(program.count);
    const std::uint64_t read = read_targets(graph.graph, {positions, program.count}, targets);
    append_edges(positions, targets.data(), out);
    return read;
  }
  /// Appends edges with known targets; `sources` null: looks up the sources by position.
  void append_edges(const std::uint64_t* positions, const Vertex* targets, SampleStore& out,
                    const Vertex* sources = nullptr) const {
    reserve(out);
    OnePassProgram local = program;
    local.graph.csr.offsets = graph.graph.out.offsets.data();
    for (std::uint64_t i = 0; i < program.count; ++i)
      out.add_edge(sources ? sources[i] : local.source_of(positions[i]), targets[i], 1, positions[i]);
    out.seed_counts.push_back(0);
    out.edge_counts.push_back(program.count);
  }

  /// `node` on a GPU with the whole graph; the GPU finds the edges.
  template <Executor E>
  void nodes_in_batches() const {
    const std::uint64_t hubs_drawn = std::min<std::uint64_t>(graph.view.hub_count, program.count);  // at most
    const std::uint64_t bytes = (program.count * 3 + program.capacity + hubs_drawn) * sizeof(std::uint64_t);
    constexpr std::uint64_t kMaxItems = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t batch =
        std::min(instances_at_once(graph.device, bytes, instances()), kMaxItems / program.count);
    if (graph.device.is_planning()) return;
    PagedNodeGrower<ResidentItems<E>> grower(PagedSetup{graph, program, stats});
    const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
      grower.grow(first, count);
      if (sink) grower.emit(first, count, *sink, writer);
    };
    run_batches(EqualBatches{batch, run}, range, options.progress, stats);
  }

  /// `edge` on a GPU, which draws positions and looks up the edges if it has them, else the host does; or
  /// over ranks, each of which reads the drawn edges of its part. Hosts exchange questions and answers: edges
  /// are read from host memory or the file, and samples end in host memory. Through GPUs both would be copied
  /// to the device and back at either end; parts on GPUs would need all edges there for a few draws.
  template <Executor E>
  void edges_in_batches() const {
    const bool on_device = graph.device.is_cuda() && !graph.paged && !graph.paging.shard;
    EdgeDraws<E> draws(*this, on_device);
    constexpr std::uint64_t kBatchBytes = 16u << 20;  // of results
    const std::uint64_t instance_bytes = program.count * (SampleStore::kEdgeBytes + sizeof(Vertex));
    const std::uint64_t batch =
        std::min<std::uint64_t>(std::max<std::uint64_t>(kBatchBytes / instance_bytes, 1), instances());
    HostArray<std::uint64_t> values(batch * program.count, kPurpose);
    HostArray<Vertex> targets(batch * program.count, kPurpose),
        sources(on_device ? batch * program.count : 0, kPurpose);
    Communicator* const ranks = graph.paging.shard;
    if (graph.device.is_planning()) {
      const std::uint64_t result_bytes = batch * store_bytes();
      const HostArray<std::byte> written(batch < instances() ? result_bytes : 0, "a batch of samples");
      if (ranks) plan_target_requests(*ranks, batch * program.count);
      host_budget().charge_and_release(result_bytes, "a batch of samples");
      return;
    }
    const Ownership owners = ranks ? owners_of_edges() : Ownership();
    const auto read = [&](std::span<const EdgeIndex> positions, std::span<Vertex> found) {
      stats.read_bytes += read_targets(graph.graph, positions, found);
    };
    const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
      const double start = seconds_now();
      draws.draw(first, count, values.data(), sources.data(), targets.data());
      const std::uint64_t drawn = count * program.count;
      if (ranks)
        request_targets(*ranks, owners, {values.data(), drawn}, {targets.data(), drawn}, read, stats);
      const auto store = std::make_shared<SampleStore>();
      store->first = first;
      for (std::uint64_t i = 0; i < drawn; i += program.count) {
        if (!ranks && !on_device)
          read({values.data() + i, program.count}, {targets.data() + i, program.count});
        append_edges(values.data() + i, targets.data() + i, *store, on_device ? sources.data() + i : nullptr);
      }
      stats.compute_seconds += seconds_now() - start;
      stats.selections += drawn, stats.sampled_edges += drawn;
      if (sink && count > 0) writer.submit([store, this] { sink->write(store->batch()); });
    };
    run_batches(EqualBatches{batch, run, ranks}, range, options.progress, stats);
  }

  /// Reserves exactly the size of one sample, if it is the first of the store.
  void reserve(SampleStore& out) const {
    if (!out.edge.empty()) return;
    out.source.reserve(program.count), out.target.reserve(program.count);
    out.depth.reserve(program.count), out.edge.reserve(program.count);
  }
  std::uint64_t store_bytes() const {
    return program.count * SampleStore::kEdgeBytes + 2 * sizeof(std::uint64_t);
  }

  /// The ranks' ranges of edges.
  Ownership owners_of_edges() const {
    std::vector<EdgeIndex> first_edges;
    for (const std::uint64_t vertex : graph.table_owners.begins())
      first_edges.push_back(graph.graph.out.offsets[vertex]);
    return Ownership(std::move(first_edges));
  }

  /// Draws the edge positions of instances.
  template <Executor E>
  class EdgeDraws {
   public:
    /// `on_device`: the device has the edges and looks up their ends.
    EdgeDraws(const OnePassJob& job, bool on_device)
        : device_(job.graph.device),
          program_(job.program),
          on_device_(on_device),
          concurrent_(device_.is_cuda() ? instances_at_once(device_, bytes_of_one(), job.instances())
                                        : device_.threads()),
          drawn_(device_, device_.is_cuda() ? concurrent_ * program_.count : 0, kPurpose),
          slots_(device_, concurrent_ * program_.capacity, kPurpose),
          sources_(device_, on_device ? drawn_.size() : 0, kPurpose),
          targets_(device_, on_device ? drawn_.size() : 0, kPurpose),
          stats_(job.stats) {}

    /// Draws instances [first, first + count) to host memory, with the edges' ends if the device has them.
    void draw(Instance first, std::uint64_t count, std::uint64_t* values, Vertex* sources, Vertex* targets) {
      const bool large_sample = program_.count > GraphView::kHubDegree;
      if (!work_) work_.emplace(device_, stats_);
      for (std::uint64_t begin = 0; begin < count; begin += concurrent_) {
        const std::uint64_t chunk = std::min(concurrent_, count - begin);
        std::uint64_t *const host_values = values + begin * program_.count, *const drawn = device_.is_cuda()
                                                                                               ? drawn_.data()
                                                                                               : host_values;
        work_->for_each_group(
            chunk, DrawEdges{program_, first + begin, drawn, slots_.data(), sources_.data(), targets_.data()},
            large_sample ? Groups::blocks : Groups::warps);
        const std::uint64_t edges = chunk * program_.count, edge_begin = begin * program_.count;
        if (drawn != host_values) copy_to_host(device_, host_values, drawn, edges * sizeof(std::uint64_t));
        if (!on_device_) continue;
        copy_to_host(device_, sources + edge_begin, sources_.data(), edges * sizeof(Vertex));
        copy_to_host(device_, targets + edge_begin, targets_.data(), edges * sizeof(Vertex));
      }
    }

   private:
    std::uint64_t bytes_of_one() const {
      return (program_.count + program_.capacity) * sizeof(std::uint64_t) +
             (on_device_ ? 2 * program_.count * sizeof(Vertex) : 0);
    }

    const Device& device_;
    OnePassProgram program_;
    bool on_device_;
    std::uint64_t concurrent_;
    Buffer<std::uint64_t> drawn_, slots_;
    Buffer<Vertex> sources_, targets_;
    RunStats& stats_;
    std::optional<GroupWork<E>> work_;
  };
};

/// The program that makes `draws`. Throws UsageError or InputError if they are not possible on the graph.
OnePassProgram program_of(const GraphView& graph, const OnePassDraws& draws, std::uint64_t seed) {
  if (draws.count == 0) throw UsageError("a one-pass sampler's sample_size must be at least 1");
  if (draws.universe > (draws.vertices ? graph.vertices() : graph.edges()))
    throw UsageError("a one-pass sampler's universe is larger than the graph");
  if (draws.count > draws.universe) {
    throw InputError("--count: " + std::to_string(draws.count) + " distinct " +
                     (draws.vertices ? "vertices" : "edges") + " are requested, but the graph has " +
                     std::to_string(draws.universe));
  }
  return {graph, seed, draws.count, draws.universe, set_capacity(draws.count)};
}

}  // namespace

RunStats run_one_pass(ResidentGraph& resident, const Starts& starts, const OnePassDraws& draws,
                      const RunOptions& options, SampleSink* sink) {
  if (options.select != Select::automatic)
    throw UsageError("--select: node and edge are drawn uniformly; omit it");
  ResidentGraph::Impl& graph = resident.impl();
  RunStats stats;
  const OnePassProgram program = program_of(graph.view, draws, options.seed);
  run_instances(OnePassJob{{graph, starts, options, sink, stats}, program, draws.vertices});
  stats.steps = stats.sampled_edges;
  return stats;
}

}  // namespace sluice::samples

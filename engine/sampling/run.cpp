// Runs a job, or computes its need: a run, up to the first batch, on a device whose memory only counts
// (MemoryPlan). The need is exact on the host. On a GPU the smallest batch of a sample whose size is not
// known beforehand is estimated (samples/partitioned/expected_size.hpp).
#include "engine/sampling/run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exchange/values_of_ranks.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

namespace {

// ---- kinds

/// Runs the kind that `options` names, on the graph as it is: whole or in partitions.
RunStats run_kind(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink) {
  switch (options.kind) {
    case walks::Kind::uniform:
      return run_uniform(graph, starts, options, sink);
    case walks::Kind::biased:
      return run_biased(graph, starts, options, sink);
    case walks::Kind::metropolis_hastings:
      return run_metropolis_hastings(graph, starts, options, sink);
    case walks::Kind::jump:
      return run_jump(graph, starts, options, sink);
    case walks::Kind::restart:
      return run_restart(graph, starts, options, sink);
    case walks::Kind::node2vec:
      return run_node2vec(graph, starts, options, sink);
    case walks::Kind::multidimensional:
      return run_multidimensional(graph, starts, options, sink);
  }
  throw UsageError("--kind: unknown walk");
}

RunStats run_kind(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink) {
  switch (options.kind) {
    case samples::Kind::neighbor:
      return run_neighbor(graph, starts, options, sink);
    case samples::Kind::forest_fire:
      return run_forest_fire(graph, starts, options, sink);
    case samples::Kind::snowball:
      return run_snowball(graph, starts, options, sink);
    case samples::Kind::layer:
      return run_layer(graph, starts, options, sink);
    case samples::Kind::node:
      return run_node(graph, starts, options, sink);
    case samples::Kind::edge:
      return run_edge(graph, starts, options, sink);
  }
  throw UsageError("--kind: unknown sample");
}

// ---- plans of ranks

/// Bytes transferred per edge: its columns; if the edges come from a file or the device builds wide alias
/// tables, only the target and the weight from which the columns are built.
std::uint64_t transfer_bytes_per_edge(const Graph& graph, const PageColumns& columns) {
  if (!graph.edge_source && !columns.wide_alias) return columns.bytes_per_edge();
  const bool derived = columns.cumulative || columns.alias || columns.wide_alias;
  const bool weights = columns.weights || (graph.weighted && derived);
  return sizeof(Vertex) + (weights ? sizeof(float) : 0);
}

/// The plan of this rank.
RankPlan plan_of_rank(const PlannedPages& pages, const Graph& graph, const Communicator& ranks) {
  const PagedPlan& parts = pages.plan;
  const OwnedPartitions owned = OwnedPartitions::of(&ranks, parts.partitions.size());
  const auto& offsets = graph.out.offsets;
  const std::uint64_t edges =
      offsets[parts.partitions.begin(owned.end)] - offsets[parts.partitions.begin(owned.begin)];
  RankPlan part;
  part.first = owned.begin, part.last = owned.end, part.slots = parts.slots;
  part.transferred_bytes = static_cast<double>(edges * transfer_bytes_per_edge(graph, pages.columns));
  // With more slots than partitions, partitions stay resident. Else almost every step transfers them again,
  // as work moves to other ranks and back, and more than once if work moves between this rank's partitions.
  if (!pages.all_resident && parts.slots <= owned.end - owned.begin) {
    const double absent_share = 1 - static_cast<double>(parts.slots) / (owned.end - owned.begin);
    const auto instances = static_cast<double>(std::max<std::uint64_t>(pages.instances, 1));
    const double batches = std::ceil(instances / static_cast<double>(parts.batch));
    part.transferred_bytes *= batches * static_cast<double>(pages.steps) * (1 + absent_share);
  }
  return part;
}

void gather_rank_plans(RunPlan& plan, const PlannedPages& pages, const Graph& graph, Communicator& ranks) {
  RankPlan own_plan = plan_of_rank(pages, graph, ranks);
  own_plan.device_bytes = plan.device_bytes_needed;
  plan.by_rank = values_of_ranks(&ranks, std::span<const RankPlan>(&own_plan, 1), "the ranks' plans");
  plan.transferred_bytes = 0;
  for (const RankPlan& rank : plan.by_rank) plan.transferred_bytes += rank.transferred_bytes;
}

// ---- plans

void add_pages(RunPlan& plan, PlannedPages pages, const Graph& graph, Communicator* ranks) {
  PagedPlan& parts = pages.plan;
  plan.batch_bytes = parts.batch * parts.instance_bytes;
  plan.graph_bytes = plan.device_bytes_needed - plan.batch_bytes;
  plan.slots = parts.slots;
  plan.transferred_bytes = parts.brought_bytes;
  plan.all_resident = pages.all_resident;
  if (ranks) gather_rank_plans(plan, pages, graph, *ranks);
  plan.partitions = std::move(parts.partitions);
}

/// The plan of a run with the paging options `paging`.
template <class Options>
RunPlan plan_kind(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
                  const PagingOptions& paging) {
  MemoryPlan memory(device.memory());
  Device counting(device, memory);
  ResidentGraph resident(counting, graph, paging);
  ResidentGraph::Impl& impl = resident.impl();
  RunPlan plan;
  plan.graph_bytes = memory.needed();
  const RunStats stats = run_kind(resident, starts, options, nullptr);
  plan.device_bytes_needed = memory.needed();
  plan.layout = stats.layout, plan.select = stats.select;
  if (impl.planned) {
    add_pages(plan, *std::move(impl.planned), graph, paging.shard);
  } else {
    plan.table_bytes = impl.table_bytes() + stats.edge_set_bytes;
    plan.batch_bytes = plan.device_bytes_needed - plan.graph_bytes - plan.table_bytes;
  }
  return plan;
}

/// As plan_kind, but cuts the graph if the whole graph leaves too little memory for the run, as the run does.
template <class Options>
RunPlan plan_run(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
                 PagingOptions paging) {
  validate(options);
  const bool keeps_paging = paging.partitions == 1 || paging.shard || options.layout == Layout::wide;
  if (keeps_paging || needs_pages(device, graph, paging))
    return plan_kind(device, graph, starts, options, paging);
  Options whole = options;
  if (options.layout == Layout::coded) whole.layout = Layout::csr;  // only partitions are coded
  RunPlan plan = plan_kind(device, graph, starts, whole, paging);
  paging.force_partitions = plan.device_bytes_needed > device.memory().available();
  if (!paging.force_partitions && options.layout == whole.layout) return plan;
  return plan_kind(device, graph, starts, options, paging);
}

// ---- results

std::uint64_t result_bytes(const Graph& graph, const Starts& starts, const walks::Options& options) {
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  const std::uint64_t id_bytes = graph.vertices() > 0x7fffffffu ? 8 : 4, length = options.length;
  const std::uint64_t ids = options.kind == walks::Kind::multidimensional
                                ? 2 * length + starts.max_seeds(options.frontier_size)
                                : length + 1;
  return (range.end - range.begin) * ids * id_bytes;
}

/// The most bytes of one sample, during its copy from the device and in host vectors that double; 0 if its
/// size is known beforehand.
std::uint64_t largest_sample_bytes(const Graph& graph, const Starts& starts,
                                   const samples::Options& options) {
  constexpr double kEntryBytes = 2 * 64, kEdgeBytes = 2 * 24 + 3 * 20, kMaxBytes = 1e18;
  const auto n = static_cast<double>(graph.vertices()), m = static_cast<double>(graph.edges());
  const bool grows = options.kind == samples::Kind::neighbor || options.kind == samples::Kind::forest_fire ||
                     options.kind == samples::Kind::snowball;
  if (!grows) return options.kind == samples::Kind::node ? static_cast<std::uint64_t>(m * kEdgeBytes) : 0;
  const std::size_t depths = options.kind == samples::Kind::neighbor ? options.fanout.size() : options.depth;
  double entries = static_cast<double>(starts.max_seeds()), all_entries = entries, edges = 0;
  for (std::size_t depth = 0; depth < depths && edges < kMaxBytes; ++depth) {
    const bool limited = options.kind == samples::Kind::neighbor && options.fanout[depth] >= 0;
    const double draws_per_entry = limited ? static_cast<double>(options.fanout[depth]) : m;
    const double drawn = entries * draws_per_entry;
    edges += drawn;
    entries = options.revisit ? drawn : std::min(drawn, n);
    all_entries += entries;
  }
  if (!options.revisit) all_entries = std::min(all_entries, n);
  if (!options.revisit && !options.replace) edges = std::min(edges, m);
  return static_cast<std::uint64_t>(std::min(kMaxBytes, edges * kEdgeBytes + all_entries * kEntryBytes));
}

// ---- runs

/// The least device memory of a run on the whole graph: the graph, tables, the smallest batch. On a GPU a
/// sample whose size is not known beforehand is estimated.
template <class Options>
std::uint64_t whole_bytes(const Device& device, const Graph& graph, const Starts& starts, Options options) {
  options.layout = Layout::csr;
  return plan_kind(device, graph, starts, options, {.partitions = 1}).device_bytes_needed;
}

/// True if the run may cut the graph into partitions; the wide layout exists on whole graphs only.
bool may_partition(const ResidentGraph& graph, const RunOptions& options) {
  const ResidentGraph::Impl& impl = graph.impl_while_reading();
  return !impl.paged && impl.paging.partitions != 1 && !impl.paging.shard && options.layout != Layout::wide;
}

template <class Options, class Sink>
RunStats run_whole_or_partitioned(ResidentGraph& graph, const Starts& starts, const Options& options,
                                  Sink* sink) {
  validate(options);
  ResidentGraph::Impl& impl = graph.impl_while_reading();
  if (may_partition(graph, options))
    impl.partition_unless_fits(whole_bytes(graph.device(), graph.graph(), starts, options));
  RunStats stats = run_kind(graph, starts, options, sink);
  stats.load_seconds += std::exchange(impl.load_seconds, 0);  // counts for the first run only
  return stats;
}

}  // namespace

RunStats run_walks(ResidentGraph& graph, const Starts& starts, const walks::Options& options,
                   WalkSink* sink) {
  return run_whole_or_partitioned(graph, starts, options, sink);
}

RunStats run_samples(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                     SampleSink* sink) {
  return run_whole_or_partitioned(graph, starts, options, sink);
}

RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts,
                   const walks::Options& options, const PagingOptions& paging) {
  RunPlan plan = plan_run(device, graph, starts, options, paging);
  plan.result_bytes = result_bytes(graph, starts, options);
  return plan;
}

RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const samples::Options& options, const PagingOptions& paging) {
  RunPlan plan = plan_run(device, graph, starts, options, paging);
  plan.largest_sample_bytes = largest_sample_bytes(graph, starts, options);
  return plan;
}

}  // namespace sluice::sampling

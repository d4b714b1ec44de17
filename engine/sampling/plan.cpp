// What a job would take, from sizes alone: the same sums as the run makes, in the order in which it makes
// them, so that the layout is the one that the run would choose. Exact on the host. On a GPU the smallest
// batch of a sample whose size is not known beforehand is estimated by lists of average length.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/samples/kinds/layer.hpp"
#include "engine/samples/layer/partitioned.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/one_pass/partitioned_node.hpp"
#include "engine/samples/partitioned/sample.hpp"
#include "engine/samples/pool/ranks.hpp"
#include "engine/sampling/planner.hpp"
#include "engine/sampling/run.hpp"
#include "engine/sampling/whole_plan.hpp"
#include "engine/walks/partitioned/walk.hpp"

namespace sluice {

namespace {

const char* name_of(Select technique) {
  switch (technique) {
    case Select::automatic:
      return "auto";
    case Select::its:
      return "its";
    case Select::alias:
      return "alias";
    case Select::rejection:
      return "rejection";
    case Select::repeated:
      return "repeated";
    case Select::updated:
      return "updated";
    case Select::bipartite:
      return "bipartite";
  }
  return "";
}

/// The technique asked for, or the default; throws where the kind does not have it.
Select resolve(Select asked, Select standard, std::initializer_list<Select> others) {
  if (asked == Select::automatic || asked == standard) return standard;
  if (std::find(others.begin(), others.end(), asked) != others.end()) return asked;
  std::string names = name_of(standard);
  for (const Select other : others) names += std::string(", ") + name_of(other);
  throw UsageError("--select: this kind selects by one of: " + names + " (leave it out for the first)");
}

// ---- walks

/// Tables of a walk with a uniform or a fixed bias.
void plan_tabled(Planner& plan, const WalkOptions& options, bool uniform) {
  const Select technique = resolve(options.select, uniform ? Select::automatic : Select::alias,
                                   {Select::its, Select::alias, Select::rejection});
  plan.select(technique);
  const bool may_be_wide = !uniform || technique == Select::automatic;  // as kToCompare
  if (technique == Select::rejection) plan.add_bounds();
  if (technique == Select::its) plan.add_ctps();
  if (!may_be_wide) {
    plan.stay_csr();
    if (technique == Select::alias) plan.add_alias();
  } else {
    technique == Select::alias ? plan.add_alias_of_walk(options.length) : plan.add_edges(options.length);
  }
}

bool is_biased(const Planner& plan, const WalkOptions& options) {
  return options.kind == WalkKind::biased && plan.effective(options.bias) != Bias::none;
}

void plan_node2vec(Planner& plan, const WalkOptions& options, bool weighted) {
  const Select technique = resolve(options.select, Select::rejection, {Select::its});
  plan.select(technique);
  if (technique == Select::its) return;
  weighted ? plan.add_alias_of_walk(options.length) : plan.add_edges(options.length);
}

void plan_pools(Planner& plan, const WalkOptions& options) {
  plan.select(resolve(options.select, Select::its, {}));
  const std::uint64_t pool = plan.most_seeds(options.frontier_size),
                      edges = 2 * std::uint64_t{options.length};
  const std::uint64_t each = PoolSizes::of(pool, options.length).bytes();
  const std::uint64_t at_once = host_pool_batch(each, plan.instances(), plan.left());
  plan.batch(plan.on_gpu() ? 2 * each + sizeof(std::uint64_t) : 2 * at_once * each);
  plan.result(plan.instances() * (edges + pool) * plan.id_bytes());
}

// ---- samples

/// The smallest batch on a GPU: one instance, depth by depth, `size(depth)` edges an entry.
template <class Size>
std::uint64_t batch_of_one(const Planner& plan, std::uint32_t depths, Size&& size) {
  constexpr std::uint64_t kFixed = 64u << 10;  // counters, scratch of prefix sums
  constexpr std::uint64_t kEntry =
      16 + 8 + 4 + 64;  // entry, offset, clash, up to four slots of the visited table
  constexpr std::uint64_t kEdge =
      4 + 4 + 4 + 8 + 20;                             // index, target, owner, flag, and the edge as it leaves
  constexpr std::uint64_t kTile = 32, kBitmap = 256;  // picks: more need scratch, and a bitmap
  const std::uint64_t warps = cuda::large_warps(plan.device());  // that have such scratch
  std::uint64_t entries = plan.most_seeds(1), bytes = kFixed, largest = 0;
  for (std::uint32_t depth = 1; depth <= depths && entries > 0; ++depth) {
    const std::uint64_t each = size(depth), edges = std::min(entries * each, plan.edges());
    largest = std::max(largest, each);
    bytes += entries * kEntry + edges * (kEdge + kEntry);
    entries = std::min(edges, plan.vertices());
  }
  if (largest > kTile) bytes += warps * largest * 2 * sizeof(std::uint32_t);
  if (largest >= kBitmap) bytes += warps * (plan.max_degree() / 32 + 1) * sizeof(std::uint32_t);
  return bytes;
}

std::uint64_t mean_degree(const Planner& plan) {
  const std::uint64_t n = std::max<std::uint64_t>(plan.vertices(), 1);
  return (plan.edges() + n - 1) / n;
}

/// neighbor and forest-fire.
void plan_traversal(Planner& plan, const SampleOptions& options) {
  const bool uniform = plan.effective(options.bias) == Bias::none;
  if (options.replace) {
    const Select technique = resolve(options.select, uniform ? Select::automatic : Select::alias,
                                     {Select::its, Select::alias, Select::rejection});
    plan.select(technique);
    if (technique == Select::its) plan.add_ctps();
    if (technique == Select::alias) plan.add_alias();
    if (technique != Select::automatic) plan.add_bounds();
  } else {
    plan.select(resolve(options.select, Select::bipartite, {Select::repeated, Select::updated}));
    if (!uniform) plan.add_ctps(), plan.add_bounds();
  }
  if (!plan.on_gpu()) return;  // the host grows samples in memory of its own
  const std::uint64_t mean = mean_degree(plan);
  if (options.kind == SampleKind::forest_fire) {
    const double burnt = std::ceil(options.probability / (1 - options.probability));
    const std::uint64_t size = burnt < static_cast<double>(mean) ? static_cast<std::uint64_t>(burnt) : mean;
    return plan.batch(batch_of_one(plan, options.depth, [&](std::uint32_t) { return size; }));
  }
  const std::uint64_t most = plan.max_degree();
  plan.batch(batch_of_one(plan, static_cast<std::uint32_t>(options.fanout.size()), [&](std::uint32_t depth) {
    const std::int64_t fanout = options.fanout[depth - 1];
    if (fanout < 0) return mean;
    const auto asked = static_cast<std::uint64_t>(fanout);
    return options.replace ? asked : std::min(asked, most);
  }));
}

void plan_snowball(Planner& plan, const SampleOptions& options) {
  plan.select(resolve(options.select, Select::bipartite, {Select::repeated, Select::updated}));
  if (!plan.on_gpu()) return;
  const std::uint64_t mean = mean_degree(plan);
  plan.batch(batch_of_one(plan, options.depth, [&](std::uint32_t) { return mean; }));
}

Select technique_of_layers(const SampleOptions& options) {
  const Select asked = options.select == Select::its ? Select::automatic : options.select;
  return resolve(asked, Select::bipartite, {Select::repeated, Select::updated});
}

LayerSizes sizes_of_layers(const Planner& plan, const SampleOptions& options) {
  if (options.layer_sizes.size() > LayerSample::kMaxDepth)
    throw UsageError("--layer-size: at most 64 depths");
  LayerSample sampler;
  sampler.depths = static_cast<std::uint32_t>(options.layer_sizes.size());
  std::copy(options.layer_sizes.begin(), options.layer_sizes.end(), sampler.sizes);
  return LayerSizes::of(sampler, plan.most_seeds(1), options.revisit);
}

void plan_layer(Planner& plan, const SampleOptions& options) {
  const LayerSizes sizes = sizes_of_layers(plan, options);
  plan.select(technique_of_layers(options));
  const Bias bias = plan.effective(options.bias);
  if (bias == Bias::degree) plan.add_ctps();
  if (bias != Bias::none) plan.add_bounds();
  plan.batch(LayerArena::bytes_per_slot(sizes) * (plan.on_gpu() ? 2 : plan.threads()));
}

/// Closes the plan of samples on a graph in partitions.
RunPlan finish_samples_in_parts(Planner& plan, const Device& device, const Graph& graph,
                                const SampleOptions& options, const PagingOptions& paging) {
  const std::uint64_t free = device.memory().available(), taken = plan.vertex_bytes();
  const std::uint64_t left = free > taken ? free - taken : 0;
  std::uint64_t each = 0, depths = 1;
  switch (options.kind) {
    case SampleKind::edge:
      return plan.finish_without_edges();  // the host reads the edges that are drawn
    case SampleKind::layer:
      if (plan.effective(options.bias) == Bias::weight) plan.bring_weights();
      depths = options.layer_sizes.size();
      each = paged_layer_bytes(device, sizes_of_layers(plan, options), paging.shard);
      break;
    case SampleKind::node:
      each = paged_node_bytes(device, graph, options.count, paging.shard, left);
      break;
    case SampleKind::neighbor:
    case SampleKind::forest_fire:
    case SampleKind::snowball:
      if (plan.has_bounds()) plan.bring_weights();
      depths = options.kind == SampleKind::neighbor ? options.fanout.size() : options.depth;
      each = paged_sample_bytes(graph, options, plan.most_seeds(1), static_cast<std::uint32_t>(depths), left);
      break;
  }
  return plan.finish_in_parts(paging, each, depths);
}

/// node and edge.
void plan_one_pass(Planner& plan, const SampleOptions& options) {
  plan.select(resolve(options.select, Select::automatic, {}));
  plan.without_starts();
  const std::uint64_t copies = plan.on_gpu() && options.kind == SampleKind::node ? 3 : 1;
  const std::uint64_t each = (copies * options.count + set_capacity(options.count)) * sizeof(std::uint64_t);
  plan.batch(each * (plan.on_gpu() ? 2 : plan.threads()));
}

/// Vertices of a walk.
std::uint64_t row_of(const WalkOptions& options) {
  return std::uint64_t{options.length} + 1;
}

/// Tables and batches of a walk, as far as they lie on the device however the graph is worked on.
void plan_walk(Planner& plan, const WalkOptions& options, bool weighted) {
  if (options.kind == WalkKind::multidimensional) return plan_pools(plan, options);
  constexpr std::uint64_t kCounters = 64u << 10;  // what cuda::plan_batches leaves for the driver
  plan.batch(2 * row_of(options) * sizeof(Vertex) +
             (plan.on_gpu() ? kCounters : 0));  // twice: one leaves while one is made
  plan.result(plan.instances() * row_of(options) * plan.id_bytes());
  if (options.kind == WalkKind::node2vec) return plan_node2vec(plan, options, weighted);
  plan_tabled(plan, options, !is_biased(plan, options));
}

RunPlan plan_whole(const Device& device, const Graph& graph, const Starts& starts,
                   const WalkOptions& options) {
  Planner plan(device, graph, starts, options);
  plan_walk(plan, options, graph.weighted);
  return plan.finish();
}

void plan_sample(Planner& plan, const SampleOptions& options) {
  switch (options.kind) {
    case SampleKind::neighbor:
    case SampleKind::forest_fire:
      return plan_traversal(plan, options);
    case SampleKind::snowball:
      return plan_snowball(plan, options);
    case SampleKind::layer:
      return plan_layer(plan, options);
    case SampleKind::node:
    case SampleKind::edge:
      return plan_one_pass(plan, options);
  }
}

/// What one sample takes at most, on its way from the device and in host memory, where lists grow by
/// doubling.
std::uint64_t largest_sample_bytes(const Graph& graph, const Starts& starts, const SampleOptions& options) {
  constexpr double kEntryBytes = 2 * 64, kEdgeBytes = 2 * 24 + 3 * 20, kMost = 1e18;
  const auto n = static_cast<double>(graph.vertices()), m = static_cast<double>(graph.edges());
  const bool grows = options.kind == SampleKind::neighbor || options.kind == SampleKind::forest_fire ||
                     options.kind == SampleKind::snowball;
  if (!grows) return options.kind == SampleKind::node ? static_cast<std::uint64_t>(m * kEdgeBytes) : 0;
  const std::size_t depths = options.kind == SampleKind::neighbor ? options.fanout.size() : options.depth;
  double entries = static_cast<double>(starts.most_seeds()), all_entries = entries, edges = 0;
  for (std::size_t depth = 0; depth < depths && edges < kMost; ++depth) {
    const bool some = options.kind == SampleKind::neighbor && options.fanout[depth] >= 0;
    const double each = some ? static_cast<double>(options.fanout[depth]) : m;
    const double drawn = entries * each;
    edges += drawn;
    entries = options.revisit ? drawn : std::min(drawn, n);
    all_entries += entries;
  }
  if (!options.revisit) all_entries = std::min(all_entries, n);
  if (!options.revisit && !options.replace) edges = std::min(edges, m);
  return static_cast<std::uint64_t>(std::min(kMost, edges * kEdgeBytes + all_entries * kEntryBytes));
}

RunPlan plan_whole(const Device& device, const Graph& graph, const Starts& starts,
                   const SampleOptions& options) {
  Planner plan(device, graph, starts, options);
  plan_sample(plan, options);
  return plan.finish();
}

/// The plan of a run on the whole graph; none where it is worked on in partitions.
template <class Options>
std::optional<RunPlan> plan_if_whole(const Device& device, const Graph& graph, const Starts& starts,
                                     const Options& options, const PagingOptions& paging) {
  if (needs_pages(device, graph, paging)) return std::nullopt;
  RunPlan plan = plan_whole(device, graph, starts, options);
  const bool stays = paging.partitions == 1 || paging.shard || options.layout == Layout::wide;
  if (!stays && plan.device_bytes_needed > device.memory().available()) return std::nullopt;
  return plan;
}

template <class Options>
std::uint64_t least_whole_bytes(const Device& device, const Graph& graph, const Starts& starts,
                                const Options& options) {
  if (options.layout != Layout::automatic)
    return plan_whole(device, graph, starts, options).device_bytes_needed;
  Options least = options;
  least.layout = Layout::csr;
  return plan_whole(device, graph, starts, least).device_bytes_needed;
}

}  // namespace

std::uint64_t whole_walk_bytes(const Device& device, const Graph& graph, const Starts& starts,
                               const WalkOptions& options) {
  return least_whole_bytes(device, graph, starts, options);
}

std::uint64_t whole_sample_bytes(const Device& device, const Graph& graph, const Starts& starts,
                                 const SampleOptions& options) {
  return least_whole_bytes(device, graph, starts, options);
}

RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts, const WalkOptions& options,
                   const PagingOptions& paging) {
  validate(options);
  if (auto whole = plan_if_whole(device, graph, starts, options, paging)) return std::move(*whole);
  WalkOptions taken = options;
  taken.layout = Layout::csr;
  Planner plan(device, graph, starts, taken);
  plan_walk(plan, taken, graph.weighted);
  if (options.kind == WalkKind::multidimensional) {
    const std::uint64_t each = PoolSizes::of(plan.most_seeds(options.frontier_size), options.length).bytes();
    return plan.finish_in_parts(paging, each + parked_pool_bytes(device, paging.shard), options.length);
  }
  const bool reads_no_list = options.kind != WalkKind::node2vec && options.kind != WalkKind::biased;
  std::optional<CodedSizes> codes;
  // Ranks that share out the graph code lists only where they are told to.
  const bool may_code = !paging.shard || options.layout != Layout::automatic;
  bool coded = reads_no_list && options.select == Select::automatic && may_code &&
               wants_codes(device, graph, options.layout, codes);
  if (coded) coded = plan.take_codes(paging, row_of(options) * sizeof(Vertex), options.length);
  // A walk that rejects may scan the list in the end, by its weights.
  const bool scans = options.kind == WalkKind::node2vec || options.select == Select::rejection;
  if (scans) plan.bring_weights();
  const std::uint64_t row_bytes = row_of(options) * sizeof(Vertex);
  ShardedPlanInput on_ranks;
  on_ranks.roams = true, on_ranks.asks = scans, on_ranks.row_bytes = row_bytes;
  // As WalkRun chooses.
  on_ranks.travels =
      !coded && paging.batching && paging.balance == Balance::automatic &&
      (is_biased(plan, options) || options.kind == WalkKind::node2vec || options.select == Select::automatic);
  return plan.finish_in_parts(paging, paged_walk_bytes(plan.on_gpu(), scans) + row_bytes, options.length,
                              on_ranks);
}

RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const SampleOptions& options, const PagingOptions& paging) {
  validate(options);
  starts.sample_range(graph.vertices(), options.first_instance, options.last_instance);
  std::optional<RunPlan> found = plan_if_whole(device, graph, starts, options, paging);
  if (!found) {
    Planner plan(device, graph, starts, options);
    plan_sample(plan, options);
    found = finish_samples_in_parts(plan, device, graph, options, paging);
  }
  found->largest_sample_bytes = largest_sample_bytes(graph, starts, options);
  return std::move(*found);
}

}  // namespace sluice

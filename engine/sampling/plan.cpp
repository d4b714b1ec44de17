// What a job would take, from sizes alone: the same sums as the run makes, in the order in which it makes
// them, so that the layout is the one that the run would choose. Exact on the host. On a GPU the smallest
// wave of a sample whose size is not known beforehand is estimated by lists of average length.
#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/drive/paged_layer.hpp"
#include "engine/drive/paged_node.hpp"
#include "engine/drive/paged_sample.hpp"
#include "engine/drive/paged_walk.hpp"
#include "engine/drive/pool_ranks.hpp"
#include "engine/residency/coded_graph.hpp"
#include "engine/residency/paged_plan.hpp"
#include "engine/sampling/run.hpp"
#include "engine/sampling/shard_plan.hpp"
#include "engine/select/wide.hpp"

namespace sluice {

namespace {

/// Sums of one job. Bytes are those that are charged to the device's ledger.
class Planner {
 public:
  Planner(const Device& device, const Graph& graph, const Starts& starts, const RunOptions& options)
      : device_(device), graph_(graph), starts_(starts), options_(options) {
    const InstanceRange range = starts.range(vertices(), options.first_instance, options.last_instance);
    instances_ = range.end - range.begin;
    const bool weights = graph.weighted;
    if (device.is_cuda()) {
      plan_.graph_bytes =
          (vertices() + 1) * sizeof(EdgeIndex) + edges() * (sizeof(Vertex) + (weights ? sizeof(float) : 0));
    }
    if (weights) plan_.graph_bytes += vertices() * sizeof(std::int16_t);  // exponents
    if (starts.mode == Starts::Mode::listed) {
      starts_bytes_ = starts.vertices.size() * sizeof(Vertex) + starts.offsets.size() * sizeof(std::uint64_t);
    }
  }

  std::uint64_t vertices() const { return graph_.vertices(); }
  std::uint64_t edges() const { return graph_.edges(); }
  Instance instances() const { return instances_; }
  bool on_gpu() const { return device_.is_cuda(); }
  unsigned threads() const { return device_.threads(); }
  Bias effective(Bias bias) const { return bias == Bias::weight && !graph_.weighted ? Bias::none : bias; }
  std::uint64_t id_bytes() const { return vertices() > 0x7fffffffu ? 8 : 4; }

  std::uint64_t most_seeds(std::uint64_t drawn) const { return starts_.most_seeds(drawn); }
  std::uint64_t max_degree() const {
    EdgeIndex most = 0;
    for (std::uint64_t v = 0; v < vertices(); ++v)
      most = std::max(most, graph_.out.offsets[v + 1] - graph_.out.offsets[v]);
    return most;
  }

  void add_ctps() {
    plan_.table_bytes += edges() * sizeof(std::uint64_t);
    columns_.cumulative = true;
  }
  void add_alias() {
    plan_.table_bytes += edges() * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
    columns_.alias = true;
  }
  void add_bounds() {
    plan_.table_bytes += vertices() * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
    bounds_ = true;
  }

  /// Edges as the walk reads them.
  void add_edges(std::uint64_t length) {
    const std::uint64_t each =
        EdgePacking::of(vertices(), edges()).worthwhile() ? sizeof(std::uint64_t) : sizeof(WideEdge);
    if (choose_wide(each, length)) plan_.table_bytes += edges() * each;
  }
  void add_alias_of_walk(std::uint64_t length) {
    choose_wide(sizeof(WideAlias), length)
        ? static_cast<void>(plan_.table_bytes += edges() * sizeof(WideAlias))
        : add_alias();
  }

  /// As WalkRun::stay_csr.
  void stay_csr() const { static_cast<void>(wide_is_possible()); }

  /// Whether walks of rows of so many bytes have the lists coded, as WalkRun::take_codes finds.
  bool take_codes(const PagingOptions& paging, std::uint64_t row_bytes, std::uint64_t steps) {
    columns_.coded = true;
    if (options_.layout == Layout::automatic) {
      const std::uint64_t instances = std::max<Instance>(instances_, 1);
      const PagedPlan parts =
          plan_pages(device_, graph_, paging, columns_, paged_walk_bytes(on_gpu(), false) + row_bytes,
                     instances, steps, vertex_bytes(), row_bytes);
      columns_.coded = !reads_in_place(parts, paging, edges() * sizeof(Vertex), instances, steps);
    }
    if (columns_.coded) plan_.layout = Layout::coded;
    return columns_.coded;
  }
  /// Device memory beside the graph and the tables so far.
  std::uint64_t left() const {
    const std::uint64_t taken = plan_.graph_bytes + starts_bytes_ + plan_.table_bytes;
    const std::uint64_t free = device_.memory().available();
    return free > taken ? free - taken : 0;
  }
  void select(Select technique) { plan_.select = technique; }
  void without_starts() { starts_bytes_ = 0; }
  void wave(std::uint64_t bytes) { plan_.wave_bytes = bytes; }
  void result(std::uint64_t bytes) { plan_.result_bytes = bytes; }

  /// What lies on the device however the graph is worked on, without its edges.
  std::uint64_t vertex_bytes() const {
    return (on_gpu() ? (vertices() + 1) * sizeof(EdgeIndex) : 0) + starts_bytes_ +
           (graph_.weighted ? vertices() * sizeof(std::int16_t) : 0) +
           (bounds_ ? vertices() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) : 0);
  }
  /// In partitions: weights come along with the targets.
  void bring_weights() { columns_.weights = graph_.weighted; }
  bool has_bounds() const { return bounds_; }

  /// As finish, where the graph is worked on in partitions: `each` bytes an instance under way, `steps`
  /// moves. `on_ranks` says more, for ranks that share out the graph.
  RunPlan finish_in_parts(const PagingOptions& paging, std::uint64_t each, std::uint64_t steps,
                          ShardJob on_ranks = {}) {
    const std::uint64_t taken = vertex_bytes(), instances = std::max<Instance>(instances_, 1);
    if (paging.shard) {
      on_ranks.columns = columns_, on_ranks.instances = instances, on_ranks.steps = steps;
      on_ranks.instance_bytes = each, on_ranks.taken = taken;
      plan_on_ranks(plan_, device_, graph_, paging, on_ranks);
      return plan_;
    }
    PagedPlan parts =
        plan_pages(device_, graph_, paging, columns_, each, instances, steps, taken, on_ranks.row_bytes);
    plan_.graph_bytes = taken + parts.slot_bytes;
    plan_.table_bytes = 0;
    plan_.wave_bytes = parts.wave * parts.instance_bytes;
    plan_.device_bytes_needed = plan_.graph_bytes + plan_.wave_bytes;
    plan_.slots = parts.slots;
    plan_.brought_bytes = parts.brought_bytes;
    plan_.partitions = std::move(parts.partitions);
    return plan_;
  }

  /// As finish, where the graph is worked on in partitions, and no edge is needed on the device.
  RunPlan finish_without_edges() {
    plan_.graph_bytes = vertex_bytes();
    return finish();
  }

  RunPlan finish() {
    if (instances_ == 0) plan_.wave_bytes = 0;
    plan_.wave_bytes += starts_bytes_;
    plan_.device_bytes_needed = plan_.graph_bytes + plan_.table_bytes + plan_.wave_bytes;
    return plan_;
  }

 private:
  /// Can offsets and degrees be packed? If it is asked for, they must.
  bool wide_is_possible() const {
    const bool possible = edges() <= PackedRow::kMaxOffset && max_degree() <= PackedRow::kMaxDegree;
    if (options_.layout == Layout::wide && !possible) {
      throw UsageError("--layout wide: offsets need more than 40 bits or degrees more than 24; use csr");
    }
    return possible;
  }
  /// As WalkRun::use_wide, before any table of the wide layout exists.
  bool choose_wide(std::uint64_t bytes_per_edge, std::uint64_t length) {
    if (options_.layout == Layout::csr) return false;
    const bool possible = wide_is_possible();
    const bool often = instances_ * length >= edges() / 2;
    constexpr std::uint64_t kWave = std::uint64_t{64} << 20;
    const bool pays = often && edges() * bytes_per_edge + kWave <= left();
    const bool wide = possible && (options_.layout == Layout::wide || pays);
    plan_.layout = wide ? Layout::wide : Layout::csr;
    return wide;
  }

  const Device& device_;
  const Graph& graph_;
  const Starts& starts_;
  const RunOptions& options_;
  Instance instances_ = 0;
  std::uint64_t starts_bytes_ = 0;
  PageColumns columns_;
  bool bounds_ = false;
  RunPlan plan_;
};

/// The technique asked for, or the default; throws where the kind does not have it.
Select resolve(Select asked, Select standard, std::initializer_list<Select> others) {
  if (asked == Select::automatic || asked == standard) return standard;
  if (std::find(others.begin(), others.end(), asked) != others.end()) return asked;
  throw UsageError("--select: this kind does not select by that technique; leave it out for the default");
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
  const std::uint64_t each = pool_bytes(pool, options.length);
  const std::uint64_t at_once = host_pool_wave(each, plan.instances(), plan.left());
  plan.wave(plan.on_gpu() ? 2 * each + sizeof(std::uint64_t) : 2 * at_once * each);
  plan.result(plan.instances() * (edges + pool) * plan.id_bytes());
}

// ---- samples

/// The smallest wave on a GPU: one instance, depth by depth, `size(depth)` edges an entry.
template <class Size>
std::uint64_t wave_of_one(const Planner& plan, std::uint32_t depths, Size&& size) {
  constexpr std::uint64_t kFixed = 64u << 10;  // counters, scratch of prefix sums
  constexpr std::uint64_t kEntry =
      16 + 8 + 4 + 64;  // entry, offset, clash, up to four slots of the visited table
  constexpr std::uint64_t kEdge =
      4 + 4 + 4 + 8 + 20;                             // index, target, owner, flag, and the edge as it leaves
  constexpr std::uint64_t kTile = 32, kBitmap = 256;  // picks: more need scratch, and a bitmap
  constexpr std::uint64_t kWarps = 132 * 16;          // that have such scratch
  std::uint64_t entries = plan.most_seeds(1), bytes = kFixed, largest = 0;
  for (std::uint32_t depth = 1; depth <= depths && entries > 0; ++depth) {
    const std::uint64_t each = size(depth), edges = std::min(entries * each, plan.edges());
    largest = std::max(largest, each);
    bytes += entries * kEntry + edges * (kEdge + kEntry);
    entries = std::min(edges, plan.vertices());
  }
  if (largest > kTile) bytes += kWarps * largest * 2 * sizeof(std::uint32_t);
  if (largest >= kBitmap) bytes += kWarps * (plan.max_degree() / 32 + 1) * sizeof(std::uint32_t);
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
    return plan.wave(wave_of_one(plan, options.depth, [&](std::uint32_t) { return size; }));
  }
  const std::uint64_t most = plan.max_degree();
  plan.wave(wave_of_one(plan, static_cast<std::uint32_t>(options.fanout.size()), [&](std::uint32_t depth) {
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
  plan.wave(wave_of_one(plan, options.depth, [&](std::uint32_t) { return mean; }));
}

Select technique_of_layers(const SampleOptions& options) {
  const Select asked = options.select == Select::its ? Select::automatic : options.select;
  return resolve(asked, Select::bipartite, {Select::repeated, Select::updated, Select::keys});
}

LayerSizes sizes_of_layers(const Planner& plan, const SampleOptions& options) {
  if (options.layer_sizes.size() > LayerSample::kMaxDepth)
    throw UsageError("--layer-size: at most 64 depths");
  LayerSample sampler;
  sampler.depths = static_cast<std::uint32_t>(options.layer_sizes.size());
  std::copy(options.layer_sizes.begin(), options.layer_sizes.end(), sampler.sizes);
  return LayerSizes::of(sampler, plan.most_seeds(1), technique_of_layers(options), options.revisit);
}

void plan_layer(Planner& plan, const SampleOptions& options) {
  const LayerSizes sizes = sizes_of_layers(plan, options);
  plan.select(technique_of_layers(options));
  const Bias bias = plan.effective(options.bias);
  if (bias == Bias::degree) plan.add_ctps();
  if (bias != Bias::none) plan.add_bounds();
  plan.wave(LayerArena::bytes_per_slot(sizes) * (plan.on_gpu() ? 2 : plan.threads()));
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
  plan.wave(each * (plan.on_gpu() ? 2 : plan.threads()));
}

}  // namespace

RunPlan plan_walks(const Device& device, const Graph& graph, const Starts& starts, const WalkOptions& options,
                   const PagingOptions& paging) {
  validate(options);
  const bool in_parts = needs_pages(device, graph, paging);
  WalkOptions taken = options;
  if (in_parts) taken.layout = Layout::csr;
  Planner plan(device, graph, starts, taken);
  if (options.kind == WalkKind::multidimensional) {
    plan_pools(plan, options);
    if (!in_parts) return plan.finish();
    const std::uint64_t each = pool_bytes(plan.most_seeds(options.frontier_size), options.length);
    return plan.finish_in_parts(paging, each + parked_pool_bytes(device, paging.shard), options.length);
  }
  const std::uint64_t row = std::uint64_t{options.length} + 1;
  constexpr std::uint64_t kCounters = 64u << 10;  // what cuda::plan_waves leaves for the driver
  plan.wave(2 * row * sizeof(Vertex) +
            (plan.on_gpu() ? kCounters : 0));  // twice: one leaves while one is made
  plan.result(plan.instances() * row * plan.id_bytes());
  const bool biased = options.kind == WalkKind::biased && plan.effective(options.bias) != Bias::none;
  if (options.kind == WalkKind::node2vec) {
    plan_node2vec(plan, taken, graph.weighted);
  } else {
    plan_tabled(plan, taken, !biased);
  }
  if (!in_parts) return plan.finish();
  const bool reads_no_list = options.kind != WalkKind::node2vec && options.kind != WalkKind::biased;
  std::optional<CodedSizes> codes;
  // Ranks that share out the graph code lists only where they are told to.
  const bool may_code = !paging.shard || options.layout != Layout::automatic;
  bool coded = reads_no_list && options.select == Select::automatic && may_code &&
               wants_codes(device, graph, options.layout, codes);
  if (coded) coded = plan.take_codes(paging, row * sizeof(Vertex), options.length);
  // Whoever rejects may scan the list in the end, by its weights.
  const bool scans = options.kind == WalkKind::node2vec || options.select == Select::rejection;
  if (scans) plan.bring_weights();
  const std::uint64_t each = paged_walk_bytes(plan.on_gpu(), scans) + row * sizeof(Vertex);
  ShardJob on_ranks;
  on_ranks.roams = true, on_ranks.asks = scans, on_ranks.row_bytes = row * sizeof(Vertex);
  // As WalkRun chooses.
  on_ranks.travels = !coded && paging.batching && paging.balance == Balance::automatic &&
                     (biased || options.kind == WalkKind::node2vec || options.select == Select::automatic);
  return plan.finish_in_parts(paging, each, options.length, on_ranks);
}

RunPlan plan_samples(const Device& device, const Graph& graph, const Starts& starts,
                     const SampleOptions& options, const PagingOptions& paging) {
  validate(options);
  starts.sample_range(graph.vertices(), options.first_instance, options.last_instance);
  const bool in_parts = needs_pages(device, graph, paging);
  Planner plan(device, graph, starts, options);
  switch (options.kind) {
    case SampleKind::neighbor:
    case SampleKind::forest_fire:
      plan_traversal(plan, options);
      break;
    case SampleKind::snowball:
      plan_snowball(plan, options);
      break;
    case SampleKind::layer:
      plan_layer(plan, options);
      break;
    case SampleKind::node:
    case SampleKind::edge:
      plan_one_pass(plan, options);
      break;
  }
  return in_parts ? finish_samples_in_parts(plan, device, graph, options, paging) : plan.finish();
}

}  // namespace sluice

#include "apps/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/files.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/shared_graph.hpp"
#include "apps/job/sinks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "io/file_bytes.hpp"

namespace sluice::apps {

namespace {

std::string edge_rate(std::uint64_t edges, double seconds) {
  return format_rate(per_second(edges, seconds)) + " edges";
}

/// Parses `VERTICES:EDGES` or `VERTICES:EDGES:undirected`, a graph without a file, for --plan.
std::optional<io::GraphInfo> parse_graph_sizes(const CommonOptions& options) {
  constexpr double kMaxPlannedEdges = 1e15;
  const auto words = split(options.graph, ":");
  const bool undirected = words.size() == 3 && words[2] == "undirected";
  if (words.size() != 2 && !undirected) return std::nullopt;
  const auto vertices = to_real(words[0]), edges = to_real(words[1]);
  if (!vertices || !edges) return std::nullopt;
  if (!options.plan)
    throw UsageError("GRAPH: numbers of vertices and edges can only be planned (add --plan, or name a file)");
  if (*vertices < 1 || *vertices > double{kMaxVertices} || *edges < 0 || *edges > kMaxPlannedEdges ||
      *vertices != std::floor(*vertices) || *edges != std::floor(*edges))
    throw UsageError(fmt::format("GRAPH: {}: must be 1 to {} vertices and 0 to {} edges, in whole numbers",
                                 options.graph, format_count(kMaxVertices), kMaxPlannedEdges));
  io::GraphInfo info;
  info.vertices = static_cast<std::uint64_t>(*vertices), info.edges = static_cast<std::uint64_t>(*edges);
  info.directed = info.has_in = !undirected;
  info.weighted = true;
  return info;
}

ReportFile begin_report(const CommonOptions& options) {
  register_outputs({options.output, options.report}, options.scratch);
  const auto end_lock = lock_forced_end();
  return {world().is_root() ? options.report : "", options.force};
}

/// Opening a GPU takes 0.15 s. The disk reads ahead in that time.
std::unique_ptr<Device> open_device(const CommonOptions& options) {
  std::optional<io::ReadAhead> ahead;
  if (options.device.choice != DeviceChoice::host && !options.plan) ahead.emplace(options.graph);
  return std::make_unique<Device>(device_of_rank(options));
}

}  // namespace

Job::Job(const Command& command, const CommonOptions& options, const GraphNeeds& needs)
    : command_(command),
      options_(options),
      needs_(needs),
      report_file_(begin_report(options)),
      device_(open_device(options)),
      progress_(options.progress, options.quiet) {
  if (options.output.empty() && !options.plan) {
    throw UsageError("--output FILE is missing (name the results, or use --plan)");
  }
  // Checks names before the work begins; publish() checks them again before the rename.
  if (world().is_root() && !options.plan) require_free_names(command.files(), options.force);
  require_scratch(options);
  apply_host_ceiling(options);
  print_options(command, options);
  warn_unusable_gpu(command, options, *device_);
  open();
}

io::GraphColumns Job::columns() const {
  return {.in = storages_[storage_].in_edges,
          .weights = needs_.weights || needs_.updated,
          .times = needs_.updated};
}

std::vector<GraphStorage> Job::storage_choices() const {
  const bool in = needs_.in_edges && info_.directed && info_.has_in, without = in && needs_.in_edges_optional;
  const Transport transport = options_.paging.transport;
  // These two transports read lists from host memory.
  const bool in_memory = transport == Transport::copied || transport == Transport::mapped;
  const bool sharded = options_.distribution == Distribution::shard && world().size() > 1;
  if (sharded && in_memory) {
    throw UsageError(
        fmt::format("--transport {}: with --distribution shard each rank reads its part of the file; omit it",
                    name_of(kTransports, transport)));
  }
  const bool file_only = transport == Transport::file || sharded;
  std::vector<GraphStorage> storages;
  const auto add = [&](bool in_file) {
    storages.push_back({in_file, in});
    if (without) storages.push_back({in_file, false});
  };
  if (!file_only) add(false);
  if (file_only || (!in_memory && !lacks_in_edges())) add(true);
  return storages;
}

void Job::open() {
  report_.open_seconds = watch_.seconds();
  const auto sizes = parse_graph_sizes(options_);
  info_ = sizes ? *sizes : io::read_graph_info(options_.graph);
  sizes_only_ = sizes.has_value();
  if (sizes) outline_.emplace(info_);
  report_.graph_file = options_.graph;
  report_.graph = info_;
  // Must precede every collective that depends on the options or the graph.
  require_same_on_all_ranks(shared_options_text(command_) +
                            fmt::format("graph checksum {}\nin-edges in the file: {}\n",
                                        format_checksum(info_.checksum), info_.has_in ? "yes" : "no"));
  storages_ = storage_choices();
  info_ = columns().select_from(info_);
  if (options_.verbose) {
    print_message(fmt::format("  {:<18} {} vertices, {} edges\n  {:<18} {}\n", "graph holds",
                              format_count(info_.vertices), format_count(info_.edges), "device used",
                              device_->name()));
  }
  set_uncharged_outline();
}

void Job::set_uncharged_outline() {
  graph_ = Graph{};
  if (!outline_) outline_.emplace(options_.graph, columns(), device_->threads());
  graph_ = outline_->graph(columns(), false, [](std::uint64_t) { return std::uint64_t{0}; });
  ids_ = std::make_unique<IdMap>(graph_, options_.original_ids);
}

void Job::set_charged_outline() {
  graph_ = Graph{};
  const MemoryPlan counting(device_->memory(), MemoryPlan::Host::counted);
  graph_ = outline_->graph(columns(), !in_file(),
                           [this](std::uint64_t bytes) { return in_file() ? bytes : share_of_node(bytes); });
}

void Job::load() {
  const Stopwatch watch;
  // A graph that exceeds the memory budget also exceeds the system's page cache.
  const bool cached = storages_.front().in_file &&
                      share_of_node(io::graph_bytes(info_, columns())) <= host_budget().ceiling();
  graph_ = Graph{};
  outline_.reset();
  const unsigned threads = device_->threads();
  if (in_file()) {
    graph_ =
        io::open_graph(options_.graph, columns(), cached ? io::Caching::system : io::Caching::none, threads);
  } else if (needs_.may_overlap_reading && world().size() == 1 && !options_.verify) {
    graph_ = io::begin_reading(options_.graph, columns(), threads);
  } else {
    graph_ = read_graph_once_per_node(options_.graph, info_, columns(), threads);
  }
  ids_ = std::make_unique<IdMap>(graph_, options_.original_ids);
  throw_if_stopped();
  report_.load_seconds += watch.seconds();
  if (!in_file() && world().node_rank() != 0) return;
  for_each_array(graph_, [this](const auto& array) { report_.bytes_read += array.bytes(); });
}

void Job::set_graph(Graph graph) {
  graph_ = std::move(graph);
  info_.vertices = graph_.vertices();
  info_.edges = graph_.edges();
  info_.checksum = graph_.checksum;
  ids_ = std::make_unique<IdMap>(graph_, options_.original_ids);
}

PagingOptions Job::paging() const {
  PagingOptions paging = options_.paging;
  if (options_.distribution == Distribution::shard && world().size() > 1) paging.shard = &world();
  return paging;
}

PagingOptions Job::paging_of(const sampling::RunPlan& plan) const {
  PagingOptions paging = this->paging();
  paging.force_partitions = plan.partitions.has_value();
  return paging;
}

bool Job::fall_back_to_host(bool too_large) {
  const std::uint64_t on_this_rank = too_large && device_->is_cuda() ? 1 : 0,
                      on_any = reduce_over_ranks(on_this_rank, Reduce::max, "the ranks' devices");
  if (on_any == 0 || options_.device.choice != DeviceChoice::automatic) return false;
  CommonOptions on_host = options_;
  on_host.device.choice = DeviceChoice::host;
  device_ = std::make_unique<Device>(device_of_rank(on_host));
  if (options_.verbose) print_message(fmt::format("  {:<18} {}\n", "device used", device_->name()));
  return true;
}

void Job::require_device_memory(std::uint64_t bytes) const {
  const std::uint64_t allowed = device_->memory().ceiling();
  if (bytes <= allowed) return;
  throw BudgetError(fmt::format(
      "the job needs {} of device memory, but {} are allowed (raise --device-memory{})", format_size(bytes),
      format_size(allowed), device_->is_cuda() ? ", or use --device host" : ""));
}

void Job::prepare(const ChargedStarts& starts, const char* unit, RunOptions& run) {
  starts_bytes_ = starts.charge.bytes();
  run.seed = options_.seed;
  run.layout = options_.layout;
  set_instances_ = [this, &starts, &run] {
    const InstanceRange range = instances_of_rank(options_, starts.instances(graph_.vertices()));
    run.first_instance = range.begin;
    run.last_instance = range.end;
  };
  set_instances_();
  progress_.start(command_.name());
  run.progress = [this, unit](Instance done, Instance all) {
    world().throw_if_failed("the work");
    progress_.update(command_.name(), done, all, unit);
  };
}

io::ResultWriter& Job::open_results(const std::vector<io::Attribute>& attributes, const Starts* starts,
                                    const std::vector<std::string>& text_columns) {
  const auto with_range = [&](const std::optional<InstanceRange>& range) {
    std::vector<io::Attribute> all{{"command", command_.name()}};
    all.insert(all.end(), attributes.begin(), attributes.end());
    if (starts != nullptr) add_start_attributes(all, *starts, range);
    all.emplace_back("seed", std::to_string(options_.seed));
    all.emplace_back("graph_checksum", format_checksum(info_.checksum));
    return all;
  };
  std::optional<InstanceRange> share;
  if (starts != nullptr) share = instances_of_rank(options_, starts->instances(graph_.vertices()));
  output_ = open_output(options_, {with_range(options_.range), with_range(share)}, text_columns);
  return output_->writer();
}

void Job::write(const VertexColumns& columns) {
  const Stopwatch watch;
  columns.write(output_->writer());
  report_.close_seconds += watch.seconds();
}

void Job::finish(const RunStats& run, const char* instance_name, const char* edge_name) {
  report_.run = run;
  close();
  std::uint64_t sums[] = {run.instances, run.sampled_edges};
  world().all_reduce(sums, Reduce::sum, "the summary");
  const double seconds = reduce_over_ranks(run.compute_seconds, Reduce::max, "the summary");
  print_summary(
      fmt::format("{} {}, {} {}", format_count(sums[0]), instance_name, format_count(sums[1]), edge_name),
      seconds, format_rate(per_second(sums[1], seconds)), run.partitions);
}

void Job::finish(const SolverFigures& solver) {
  report_.solver = solver;
  close();
  if (!solver.converged)
    print_not_converged(fmt::format("{} iterations", solver.iterations), solver.residual, solver.end);
  print_summary(fmt::format("{} iterations to a change of {:.3g}", solver.iterations, solver.residual),
                solver.run.compute_seconds, edge_rate(solver.edges, solver.run.compute_seconds),
                solver.run.partitions);
}

void Job::finish(const AccFigures& acc) {
  report_.acc = acc;
  close();
  const acc::AccStats& stats = acc.stats;
  if (!acc.converged) print_not_converged(fmt::format("{} rounds", stats.rounds), acc.residual, acc.end);
  print_summary(fmt::format("{}, {} rounds", acc.found, format_count(stats.rounds)), stats.compute_seconds,
                edge_rate(stats.edges, stats.compute_seconds), stats.partitions);
}

void Job::close() {
  throw_if_stopped();
  const Stopwatch closing;
  // A single process ignores stop requests from here on, because it is about to finish. With several ranks,
  // one may still be lost.
  if (world().size() == 1) ignore_stop_requests();
  output_->finish();
  progress_.finish();
  report_.command = command_.name();
  report_.options = command_.resolved();
  report_.device = device_.get();
  report_.close_seconds += closing.seconds();
  report_.total_seconds = watch_.seconds();
  report_.bytes_written = output_->bytes_written();
  report_file_.finish_joined(report_);
  prepare_commit();
  if (world().is_root()) publish();
}

void Job::publish() {
  const auto end_lock = lock_forced_end();
  require_free_names(command_.files(), options_.force);
  if (written_graph_) written_graph_->commit();
  output_->commit();
  report_file_.commit();
  confirm_commit();
}

void Job::print_not_converged(const std::string& after, double residual, const std::string& end) const {
  print_message(fmt::format("{}: NOT converged after {}, the last change is {:.3g} ({})\n", command_.name(),
                            after, residual, end));
}

void Job::print_summary(const std::string& what, double seconds, const std::string& rate,
                        std::uint64_t partitions) const {
  const std::uint64_t bytes = reduce_over_ranks(output_->result_bytes(), Reduce::sum, "the summary");
  const std::string ranks = world().size() > 1 ? fmt::format(", {} ranks", world().size()) : "";
  if (!options_.quiet)
    print_message(fmt::format("{}: {} in {:.3g} s ({}/s) on {}{}; {} to {}\n", command_.name(), what, seconds,
                              rate, device_->name(), ranks, format_size(bytes),
                              options_.output == "-" ? "standard output" : options_.output));
  warn_idle_slots(command_, options_, partitions);
}

void refuse_inapplicable_options(const Command& command, const std::string& kind,
                                 const std::vector<KindOption>& options) {
  for (const auto& option : options) {
    if (!command.given(option.name) || option.applies_to(kind)) continue;
    throw UsageError(fmt::format("{} does not apply to --kind {} (it belongs to {})", option.name, kind,
                                 fmt::join(option.kinds, ", ")));
  }
}

std::vector<io::Attribute> attributes_of(const Command& command, const std::vector<std::string>& options,
                                         const std::string& kind,
                                         const std::vector<KindOption>& kind_options) {
  std::vector<io::Attribute> attributes;
  for (const std::string& name : options) {
    const bool is_other_kind = std::ranges::any_of(kind_options, [&](const KindOption& option) {
      return option.name == name && !option.applies_to(kind);
    });
    if (is_other_kind) continue;
    const auto option = std::ranges::find(command.options(), name, &Command::Option::name);
    std::string key = name.substr(2);
    std::ranges::replace(key, '-', '_');
    const auto add = [&]<class T>(const T& value) {
      if constexpr (std::is_integral_v<T>)
        attributes.emplace_back(key, static_cast<std::int64_t>(value));
      else
        attributes.emplace_back(key, value);
    };
    std::visit(add, option->get());
  }
  return attributes;
}

void refuse_idle_option(const Command& command, const char* option, bool idle, const std::string& condition) {
  if (idle && command.given(option))
    throw UsageError(fmt::format("{} does not apply {} (omit it)", option, condition));
}

}  // namespace sluice::apps

#include "apps/data/rank_batch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>

#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/dynamic/plan.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/verify.hpp"
#include "io/checksum.hpp"
#include "io/results/rank_file.hpp"
#include "partition/build.hpp"
#include "partition/updated_edges.hpp"

namespace sluice::apps {

namespace {

std::string update_line(const UpdateCounts& counts, double seconds) {
  return fmt::format(
      "batch: {} edges inserted, {} existed already; {} deleted, {} did not exist; {} new vertices; in "
      "{:.3g} s\n",
      format_count(counts.inserted), format_count(counts.present), format_count(counts.deleted),
      format_count(counts.missing), format_count(counts.new_vertices), seconds);
}

/// Refuses earlier ranks of another graph or other options, which would silently give wrong ranks.
void check_previous(const io::RankFile& found, const std::string& path, const Graph& graph,
                    const pagerank::Options& rank) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {} (compute the ranks with --method static)", path, what));
  };
  if (!found.graph_checksum.empty() && found.graph_checksum != format_checksum(graph.checksum)) {
    refuse("these are ranks of another graph");
  }
  const std::string dangling = name_of(kDanglings, rank.dangling);
  if (!found.dangling.empty() && found.dangling != dangling) {
    refuse(fmt::format("found with --dangling {}, not {}", found.dangling, dangling));
  }
  if (found.weighted && *found.weighted != rank.weighted) {
    refuse(*found.weighted ? "found with --weighted" : "found without --weighted");
  }
  if (found.damping && *found.damping != rank.damping) {
    refuse(fmt::format("found with --damping {}, not {}", *found.damping, rank.damping));
  }
}

/// Refuses coarser earlier ranks: methods other than nd keep the ranks, and errors, that no change reaches.
void check_precision(const io::RankFile& found, const std::string& path, const pagerank::Options& rank,
                     const pagerank::DynamicRankOptions& dynamic) {
  if (dynamic.method == pagerank::RankMethod::naive_dynamic) return;
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        fmt::format("{}: {} (use --method nd, or compute the ranks with --method static)", path, what));
  };
  const auto refuse_coarser = [&](const char* option, const std::optional<double>& earlier, double now) {
    if (earlier && *earlier > now)
      refuse(fmt::format("found with {} {}, coarser than {}", option, *earlier, now));
  };
  if (found.converged && !*found.converged) refuse("not converged");
  refuse_coarser("--tolerance", found.tolerance, rank.tolerance);
  refuse_coarser("--frontier-tolerance", found.frontier_tolerance, dynamic.frontier_tolerance);
  refuse_coarser("--prune-tolerance", found.prune_tolerance, dynamic.prune_tolerance);
  // In a later norm of this list, the same change measures less.
  constexpr std::array kFromStrict{pagerank::RankNorm::l1, pagerank::RankNorm::l2, pagerank::RankNorm::linf};
  for (const pagerank::RankNorm norm : kFromStrict) {
    if (found.norm.empty() || found.norm == name_of(kRankNorms, norm)) return;
    if (norm == rank.norm)
      refuse(fmt::format("found with --norm {}, coarser than {}", found.norm, name_of(kRankNorms, norm)));
  }
}

template <class Values>
std::string checksum_of(const Values& values) {
  return format_checksum(io::checksum(std::as_bytes(std::span(values.begin(), values.size()))));
}

}  // namespace

bool has_frontier(pagerank::RankMethod method) {
  return method == pagerank::RankMethod::dynamic_frontier ||
         method == pagerank::RankMethod::pruned_frontier || method == pagerank::RankMethod::residual_frontier;
}

void declare_rank_options(Command& command, pagerank::Options& options) {
  command.real("--damping", "D", options.damping, "probability of following an edge instead of jumping");
  command.real("--tolerance", "T", options.tolerance, "stop once an iteration changes ranks by at most this");
  command.choice("--norm", options.norm, kRankNorms, "how that change is measured; never scaled by n");
  command.integer("--max-iterations", options.max_iterations, 1,
                  "stop after N iterations and print a warning");
  command.choice(
      "--dangling", options.dangling, kDanglings,
      "rank of vertices without out-edges goes to all, or every vertex without a self-loop gets one");
  command.choice("--precision", options.precision, kRankPrecisions,
                 "f32 gathers half the bytes; ranks then err by up to 4e-7 in sum, and fine tolerances "
                 "cannot be reached");
}

void declare_frontier(Command& command, pagerank::DynamicRankOptions& rank) {
  command.real("--frontier-tolerance", "T", rank.frontier_tolerance,
               "df, dfp, dfr: a larger relative change spreads to out-neighbours");
  command.real("--prune-tolerance", "T", rank.prune_tolerance,
               "dfp: a vertex with at most this relative change is pruned");
  command.choice("--affect-all", rank.affect_all, kAffectAll,
                 "dfp: affect all vertices where more than half of the edges lead from vertices whose "
                 "change spreads, which takes less time, or never, as published");
}

void declare_rank_batch(Command& command, RankBatchOptions& options) {
  command.input_file("--insert", options.files.insert, "edges to insert, as convert reads them");
  command.input_file("--delete", options.files.remove,
                     "edges to delete; deletions are applied before insertions");
  command.output_file("--output-graph", options.output_graph, "write the graph after the batch");
  command.input_file("--previous", options.previous,
                     "nd, dt, df, dfp, dfr: ranks of the graph before the batch");
  declare_frontier(command, options.rank);
  command.choice("--split", options.rank.split, kRankSplits,
                 "split work of high-degree vertices over threads of a GPU: by in-degree when pulling, by "
                 "out-degree when spreading; not `in` on ranks and in partitions; changes "
                 "no result");
}

void refuse_idle_frontier(const Command& command, pagerank::RankMethod method) {
  const std::string condition = "with --method " + std::string(name_of(kRankMethods, method));
  const bool prunes = method == pagerank::RankMethod::pruned_frontier;
  refuse_idle_option(command, "--frontier-tolerance", !has_frontier(method), condition);
  refuse_idle_option(command, "--prune-tolerance", !prunes, condition);
  refuse_idle_option(command, "--affect-all", !prunes, condition);
}

void resolve_rank_batch(const Command& command, pagerank::RankMethod method, RankBatchOptions& options) {
  const std::string name = name_of(kRankMethods, method);
  const auto refuse_idle = std::bind_front(refuse_idle_option, std::cref(command));
  const bool from_scratch = method == pagerank::RankMethod::from_scratch;
  const std::string condition = "with --method " + name;
  refuse_idle("--previous", from_scratch, condition);
  refuse_idle_frontier(command, method);
  refuse_idle("--split", from_scratch, condition);
  refuse_idle("--output-graph", !options.updates(), "without --insert or --delete");
  options.rank.method = method;
  if (from_scratch) return;
  validate(options.rank);
  if (options.previous.empty()) {
    throw UsageError(fmt::format("--method {} needs earlier ranks (--previous FILE)", name));
  }
  refuse_idle("--rows", true, condition);
}

pagerank::Plan plan_rank_batch(Job& job, const ChargedBatch& batch, const pagerank::Options& rank,
                               const pagerank::DynamicRankOptions& dynamic,
                               const pagerank::RankPlace& place) {
  const Graph& graph = job.graph();
  pagerank::require_stored_in_edges(graph);
  UpdateSize update = size_of_update(graph, batch.insertions.size() + batch.deletions.size(),
                                     vertices_with(batch.insertions, graph.vertices()));
  if (graph.edge_source)  // buffers to read the updated graph, at first for its checksum
    update.kept_bytes += job.device().threads() * (UpdatedEdges::kMinBytes + io::kMinChecksumBytes);
  if (dynamic.method != pagerank::RankMethod::from_scratch)
    return pagerank::plan_dynamic_ranks(job.device(), graph, rank, update, place, dynamic);
  pagerank::Plan plan =
      pagerank::plan_pagerank(job.device(), graph, rank, place, update.vertices - graph.vertices());
  plan.host_bytes = std::max(plan.host_bytes + update.kept_bytes, update.peak_bytes);  // one after the other
  return plan;
}

RankBatch::RankBatch(Job& job, ChargedBatch batch, const RankBatchOptions& options,
                     const pagerank::Options& rank, const CommonOptions& common)
    : job_(job), options_(options), rank_(rank) {
  pagerank::require_stored_in_edges(job.graph());
  const bool follows = !options.previous.empty();
  const unsigned threads = threads_of(common);
  io::RankFile previous;
  if (follows) {
    previous = io::read_rank_file(options.previous, job.graph().vertices());
    check_previous(previous, options.previous, job.graph(), rank);
    check_precision(previous, options.previous, rank, options.rank);
  }
  if (follows && common.verify)
    previous_change_ = check_ranks(job.graph(), rank, previous.ranks.span(), &world(), threads).change;
  const bool shared = world().size() > 1;
  const std::string previous_checksum = shared ? checksum_of(previous.ranks) : "";
  Graph graph = job.release_graph();
  // In-edges that the file does not store are made once, then updated together with the out-edges.
  const bool in_edges_computed = follows && graph.directed && graph.in.offsets.empty() && !graph.edge_source;
  if (in_edges_computed) graph.in = transpose(graph.out, threads);
  if (follows) {
    ranks_.emplace(job.device(), graph, previous.ranks.span(), rank,
                   pagerank::RankPlace{common.paging, &world()});
    previous = {};
  }
  const Stopwatch watch;
  UpdateResult result = update_graph(std::move(graph), batch, threads);
  const double seconds = watch.seconds();
  const UpdateCounts& counts = result.counts;
  counters_ = {{"inserted", counts.inserted},         {"present", counts.present},
               {"deleted", counts.deleted},           {"missing", counts.missing},
               {"new_vertices", counts.new_vertices}, {"update_seconds", seconds}};
  if (shared) {  // files of the same names may differ between nodes
    require_same_on_all_ranks(
        fmt::format("earlier ranks of checksum {}\ninserted {}, deleted {}, vertices {}\nchanges of checksum "
                    "{}\nweights of checksum {}\n",
                    previous_checksum, counts.inserted, counts.deleted, result.graph.vertices(),
                    checksum_of(result.changes), checksum_of(batch.insertions.weight)));
  }
  changes_ = std::move(result.changes);
  store_graph(std::move(result.graph), in_edges_computed, common);
  job.set_counters(counters_);
  if (options.updates() && !common.quiet) print_message(update_line(counts, seconds));
}

void RankBatch::store_graph(Graph graph, bool in_edges_computed, const CommonOptions& common) {
  register_outputs({options_.output_graph}, common.scratch);
  constexpr std::string_view kChanged = ", changed by pagerank";
  if (options_.updates() && !graph.origin.ends_with(kChanged)) graph.origin += kChanged;
  // Only one rank writes the graph, or reads all edges for their checksum.
  std::uint64_t checksum = 0;
  if (!options_.output_graph.empty() && world().is_root()) {
    Csr in;
    if (in_edges_computed) std::swap(in, graph.in);
    io::GraphWriter writer = io::begin_graph(options_.output_graph, graph, common.force);
    checksum = writer.finish();
    job_.set_written_graph(std::move(writer));
    if (in_edges_computed) std::swap(in, graph.in);
  } else if (world().is_root()) {
    checksum = graph.checksum != 0 ? graph.checksum : io::graph_checksum(graph, threads_of(common));
  }
  graph.checksum = reduce_over_ranks(checksum, Reduce::max, "the checksum of the graph");
  job_.set_graph(std::move(graph));
}

pagerank::Result RankBatch::follow(const pagerank::RankObserver& observer) {
  followed_ = ranks_->follow(job_.graph(), changes_, options_.rank, observer);
  const pagerank::DynamicRankResult& followed = followed_;
  counters_.emplace_back("initially_affected", followed.initially_affected);
  counters_.emplace_back("ever_affected", followed.ever_affected);
  if (options_.rank.method == pagerank::RankMethod::pruned_frontier)
    counters_.emplace_back("widened_iterations", std::uint64_t{followed.widened_iterations});
  counters_.emplace_back("partitions_read", followed.partitions_read);
  // Only if the GPU holds the whole graph; otherwise only the host updates it.
  if (followed.update_seconds > 0) counters_.emplace_back("device_update_seconds", followed.update_seconds);
  job_.set_counters(counters_);
  pagerank::Result result;
  static_cast<pagerank::RankRun&>(result) = followed;
  result.first = ranks_->first();
  result.ranks = HostArray<double>(ranks_->own_rows(), "ranks");
  ranks_->read_ranks(result.ranks.span());
  return result;
}

void RankBatch::verify(std::span<const double> ranks) const {
  pagerank::verify_followed(job_.graph(), rank_, options_.rank, ranks, followed_, previous_change_, &world(),
                            job_.device().threads());
}

}  // namespace sluice::apps

// What walk, sample and the solvers share: opening device and files, loading the graph, the summary and the
// report.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/cli/progress.hpp"
#include "apps/data/ids.hpp"
#include "apps/data/starts.hpp"
#include "apps/job/output.hpp"
#include "apps/report/report.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/device.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/sampling/run.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

class VertexColumns;

/// The parts of a graph file that a command reads.
struct GraphNeeds {
  bool in_edges = false;                ///< also in-edges, if a directed graph's file has them
  bool in_edges_optional = false;       ///< in-edges only if they fit in memory with everything else
  bool weights = false;                 ///< also edge weights, if the file has them
  bool updated = false;                 ///< a batch updates the graph: all columns, one direction at a time
  bool needs_in_edges_in_file = false;  ///< work on edges in a directed graph's file needs in-edges
  bool may_overlap_reading = false;     ///< work, but no check, may begin during reading (io::begin_reading)
};

/// What a job needs in addition to the graph in memory, according to its plan.
struct JobNeed {
  std::uint64_t device_bytes = 0;
  std::uint64_t host_bytes = 0;  ///< includes device_bytes if the device is the host
  const char* remedies = "";     ///< other than more memory
  // Memory that no plan counts, as its size is not known beforehand:
  std::uint64_t max_part_bytes = 0;  ///< upper bound for one part of the work, in bytes
  const char* part_name = "";        ///< name of the part, as "query"
  /// The bytes of `max_part_bytes` that a job reserves in host memory in addition to the graph if it cannot
  /// restart.
  std::uint64_t reserved_bytes = 0;
  /// With --distribution shard: is `device_bytes` what each rank needs, not an estimate?
  bool exact_on_ranks = false;
  /// Bytes of lists that move to the device repeatedly unless they fit on it; empty if unknown.
  std::optional<std::uint64_t> reloaded_bytes = {};

  /// Should a message give `sufficient`, which is enough for any part, in addition to `bytes`?
  bool shows_sufficient(std::uint64_t sufficient, std::uint64_t bytes) const {
    constexpr std::uint64_t kMaxShown = std::uint64_t{1} << 40;  // above that, the figure is no help
    return max_part_bytes != 0 && sufficient > bytes && sufficient < kMaxShown;
  }
};

/// Where a graph is: in memory, or in its file except for the offsets; with or without in-edges.
struct GraphStorage {
  bool in_file = false, in_edges = false;
};

class Job {
 public:
  /// Opens the device, claims the report's name and reads the graph file's header and offsets. Refuses all
  /// that can be refused without the edges; plan_and_load() reads those. Throws Error.
  Job(const Command& command, const CommonOptions& options, const GraphNeeds& needs = {});

  Device& device() { return *device_; }
  /// Before plan_and_load(), its edges are in the file. With --plan it is an outline (io::GraphOutline).
  const Graph& graph() const { return graph_; }
  /// True if GRAPH gives numbers of vertices and edges instead of a file; only with --plan.
  bool has_sizes_only() const { return sizes_only_; }
  const IdMap& ids() const { return *ids_; }
  /// Moves the graph out, to be changed. After set_graph() the changed graph is the job's: results belong to
  /// it and carry its checksum.
  Graph release_graph() { return std::move(graph_); }
  void set_graph(Graph graph);
  /// Sets the report's counters, which it gives in addition to the figures of every run.
  void set_counters(const ResolvedOptions& counters) { report_.counters = counters; }

  /// The paging options of the command line, with the ranks that share out the graph.
  PagingOptions paging() const;
  /// As paging(), cut into partitions if the plan is.
  PagingOptions paging_of(const sampling::RunPlan& plan) const;
  /// Loads the graph and returns make(paging) if it fits. If not, the graph takes less memory in its next
  /// storage: without in-edges, or in its file. All ranks call it. Throws BudgetError that states the whole
  /// need and the remedies; with --plan, print_plan() throws it.
  template <class Make>
  auto plan_and_load(const Make& make) {
    std::optional<std::invoke_result_t<const Make&, const PagingOptions&>> plan;
    const auto need = [&](const PagingOptions& paging) {
      plan.reset();
      plan = make(paging);
      return need_of(*plan);
    };
    try {
      fit(need);
    } catch (const BudgetError&) {
      if (counts_required_ranks()) count_required_ranks({}, need), print_required_ranks();
      throw;
    }
    if (counts_required_ranks())
      count_required_ranks(need_of(*plan),
                           [&](const PagingOptions& paging) { return need_of(make(paging)); });
    return std::move(*plan);
  }
  /// Calls work(plan), where plan_and_load(make) returned `plan`. If a part of the work takes too much memory
  /// (JobNeed::max_part_bytes), the graph takes less in its next storage and the work restarts. The refusal,
  /// if any, states an amount that is enough.
  template <class Plan, class Make, class Work>
  void run_with_retries(Plan plan, const Make& make, const Work& work) {
    while (true) {
      try {
        return work(plan);
      } catch (const BudgetError& error) {
        const JobNeed need = need_of(plan);
        if (!prepare_restart()) throw_too_large(error, need);
        try {
          plan = plan_and_load(make);
        } catch (const BudgetError&) {  // does not fit even with less of the graph in memory
          if (need.max_part_bytes == 0) throw;
          throw_too_large(error, need);
        }
      }
    }
  }
  /// Moves the job from the GPU to the host if `too_large` is true on any rank that uses a GPU, and the
  /// device was chosen automatically. Returns true if it did. All ranks call it.
  bool fall_back_to_host(bool too_large);

  /// Throws BudgetError if the device's ceiling is below `bytes`.
  void require_device_memory(std::uint64_t bytes) const;

  /// Sets what every run takes from the common options: seed, layout, this rank's range of instances, and a
  /// progress bar that counts `unit` (" walks"). Throws UsageError for a range behind the last instance.
  void prepare(const ChargedStarts& starts, const char* unit, RunOptions& run);

  /// Claims the output's name. `attributes` are the options of CONTRACT section 4. The command, `starts`
  /// (null if the command has none), seed and graph checksum are added here.
  io::ResultWriter& open_results(const std::vector<io::Attribute>& attributes, const Starts* starts,
                                 const std::vector<std::string>& text_columns);

  /// Adds an attribute that was unknown when the results were opened. All ranks add the same one.
  void note(const io::Attribute& attribute) { output_->note(attribute); }

  /// Writes the datasets that have a row per vertex.
  void write(const VertexColumns& columns);
  /// Keeps a written graph that gets its name together with the results.
  void set_written_graph(io::GraphWriter graph) { written_graph_.emplace(std::move(graph)); }

  /// Completes the output, prints the summary, writes the report.
  void finish(const RunStats& run, const char* instance_name, const char* edge_name);
  void finish(const SolverFigures& solver);
  void finish(const AccFigures& acc);

  Progress& progress() { return progress_; }

  /// --plan: prints the need of a job whose plan plan_and_load() returned; throws BudgetError if it does not
  /// fit.
  void print_plan(const sampling::RunPlan& plan) const;
  /// `vertices` of the graph with the batch applied, if there is one.
  void print_plan(const pagerank::Plan& plan, std::uint64_t vertices) const;
  void print_plan(const ppr::Plan& plan) const;
  void print_plan(const acc::AccPlan& plan) const;

 private:
  void open();
  /// The ways to store the graph, in order of preference.
  std::vector<GraphStorage> storage_choices() const;
  /// The columns of the file to read for the current storage.
  io::GraphColumns columns() const;
  /// True if work on edges in the file needs in-edges, and the file has none.
  bool lacks_in_edges() const { return needs_.needs_in_edges_in_file && info_.directed && !info_.has_in; }
  /// Sets a graph whose edges stay in the file; nothing of it is charged to a budget.
  void set_uncharged_outline();
  /// Sets an outline, charged to the budget as load() would charge the graph, even above the ceiling.
  void set_charged_outline();
  /// Reads the graph to its current storage.
  void load();
  /// Host memory of the graph, its id map and the starts.
  std::uint64_t input_bytes() const;
  std::uint64_t graph_bytes() const;
  JobNeed need_of(const sampling::RunPlan& plan) const;
  JobNeed need_of(const pagerank::Plan& plan) const;
  JobNeed need_of(const ppr::Plan& plan) const;
  JobNeed need_of(const acc::AccPlan& plan) const;
  using FindNeed = std::function<JobNeed(const PagingOptions&)>;
  /// A plan of the job with the graph in its current storage.
  struct Trial {
    std::optional<JobNeed> need;  ///< null if there is no plan; `reason` says why
    bool fits = false;            ///< into this rank's memory
    bool all_fit = false;
    std::string reason;
  };
  /// All ranks call it.
  Trial try_plan(const FindNeed& need, const PagingOptions& paging);
  /// As plan_and_load(); `need` throws BudgetError if there is no plan.
  void fit(const FindNeed& need);
  /// Does this single process plan a job for ranks that share out the graph? If so, count_required_ranks()
  /// finds how many ranks it takes, after all else. `known` is the need of one rank, if it has a plan.
  bool counts_required_ranks() const;
  void count_required_ranks(std::optional<JobNeed> known, const FindNeed& need);
  void print_required_ranks() const;
  bool in_file() const { return storages_[storage_].in_file; }
  /// Moves to the next storage, with less of the graph in memory; false if there is none. Same on all ranks.
  bool use_next_storage();
  /// Can written results be withdrawn? Not if another rank or standard output has received some.
  bool can_discard_results() const;
  /// Withdraws the results and calls use_next_storage(); false if either is impossible.
  bool prepare_restart();
  /// Throws BudgetError.
  [[noreturn]] void throw_too_large(const BudgetError& error, const JobNeed& need) const;
  /// The ceilings that are enough for JobNeed::max_part_bytes. Partitions take up to half of the memory that
  /// is left.
  std::uint64_t sufficient_device_bytes(const JobNeed& need) const;
  std::uint64_t sufficient_host_bytes(const JobNeed& need) const;
  /// Throws BudgetError where plan_and_load() found that no plan fits.
  void throw_refusal() const;
  /// Does this rank have the memory that the plan needs?
  bool fits(const JobNeed& needed) const;
  /// The message for a job that does not fit with the graph in its last storage: about the lowest sufficient
  /// ceiling, and other remedies. Empty if no ceiling is enough. All ranks call it and get the same message.
  std::string refusal(const FindNeed& need);
  void close();
  /// Gives the completed output, graph and report their names.
  void publish();
  void print_not_converged(const std::string& after, double residual, const std::string& end) const;
  /// Prints a line on standard error, and unused slots. `rate` is for `what` in so many seconds.
  void print_summary(const std::string& what, double seconds, const std::string& rate,
                     std::uint64_t partitions) const;
  /// --plan: prints the lines; throws BudgetError if the job does not fit.
  void print_plan(const std::string& text, std::uint64_t partitions) const;

  const Command& command_;
  const CommonOptions& options_;
  GraphNeeds needs_;
  bool sizes_only_ = false;
  Stopwatch watch_;
  ReportFile report_file_;
  std::unique_ptr<Device> device_;
  Progress progress_;
  io::GraphInfo info_;  ///< of the columns that are read
  Graph graph_;
  std::uint64_t starts_bytes_ = 0;
  std::function<void()> set_instances_;  ///< sets the instances of this rank
  std::optional<io::GraphOutline> outline_;
  std::vector<GraphStorage> storages_;
  std::size_t storage_ = 0;  ///< index of the current storage
  std::string refusal_;      ///< message of a plan that does not fit
  std::string ranks_lines_;  ///< lines that count_required_ranks() found
  std::unique_ptr<IdMap> ids_;
  std::unique_ptr<JobOutput> output_;
  std::optional<io::GraphWriter> written_graph_;
  Report report_;
};

/// As format_size, rounded up: the text never reads as less than `bytes`.
std::string format_need(std::uint64_t bytes);

/// An option and the kinds that it applies to.
struct KindOption {
  std::string name;
  std::vector<std::string> kinds;

  bool applies_to(const std::string& kind) const {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
};

/// Throws UsageError for an option that was given but does not apply to `kind`.
void refuse_inapplicable_options(const Command& command, const std::string& kind,
                                 const std::vector<KindOption>& options);

/// Options as attributes of a result: `--layer-size` is `layer_size`. Leaves out those of `kind_options` that
/// do not apply to `kind`.
std::vector<io::Attribute> attributes_of(const Command& command, const std::vector<std::string>& options,
                                         const std::string& kind = {},
                                         const std::vector<KindOption>& kind_options = {});

/// Throws UsageError for an option that was given but is `idle`; `condition` completes "has no meaning ...".
void refuse_idle_option(const Command& command, const char* option, bool idle, const std::string& condition);

}  // namespace sluice::apps

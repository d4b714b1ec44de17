// What walk, sample and the solvers share: opening device and files, loading the graph, closing with a
// summary and a report.
#pragma once

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
#include "io/file_bytes.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

class VertexColumns;

/// What a command reads of the graph file.
struct GraphNeeds {
  bool in_edges = false;              ///< also in-edges, where a directed graph's file has them
  bool in_edges_if_they_fit = false;  ///< those, but only where memory holds them beside all else
  bool weights = false;               ///< also weights of edges, where the file has them
  bool updated = false;               ///< a batch rewrites all of it, one direction after the other
  bool file_needs_in = false;         ///< in a directed graph's file, work needs in-edges
  bool as_lists_come = false;         ///< work but a check may begin while edges are read (io::begin_reading)
};

/// What a plan says that a job takes beside the graph as it was read.
struct JobNeed {
  std::uint64_t device_bytes = 0;
  std::uint64_t host_bytes = 0;  ///< with what a device takes that lies there
  const char* remedies = "";     ///< beside more memory
  // Beside it, which no plan counts:
  std::uint64_t most = 0;  ///< bytes that a part of the work may take
  const char* part = "";   ///< "query"
  /// Of it, bytes of host memory for which a job that cannot begin again leaves room beside the graph.
  std::uint64_t room = 0;
  /// Where ranks share the graph out, is `device_bytes` what each must have?
  bool exact_on_ranks = false;
  /// Bytes of lists that come to the device more than once, unless it has so much left; empty: not known.
  std::optional<std::uint64_t> brought_again = {};

  /// Is `ample`, which suffices for any part, worth saying beside so many bytes?
  bool says(std::uint64_t ample, std::uint64_t bytes) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // more is no advice
    return most != 0 && ample > bytes && ample < kMost;
  }
};

/// Where a graph is: in memory, or but for offsets in its file; with in-edges, or without.
struct GraphPlace {
  bool in_file = false, in_edges = false;
};

class Job {
 public:
  /// Opens the device, claims the report's name and looks at the graph's file. Everything that can be refused
  /// without reading the edges is refused first; they are read by fitting(). Throws Error.
  Job(const Command& command, const CommonOptions& options, const GraphNeeds& needs = {});

  Device& device() { return *device_; }
  /// Before fitting(): its edges are in the file. With --plan an outline (io::GraphOutline).
  const Graph& graph() const { return graph_; }
  /// Are the graph's edges nowhere? Only with --plan.
  bool by_numbers() const { return by_numbers_; }
  const IdMap& ids() const { return *ids_; }
  /// Hands the graph over, to be changed. What came of it is the job's graph once adopt() has it back:
  /// results are of that one and name its checksum.
  Graph give_graph() { return std::move(graph_); }
  void adopt(Graph graph);
  /// What the report says beside the figures that every run has.
  void count(const ResolvedOptions& counters) { report_.counters = counters; }

  /// How the graph is worked on, by these ranks.
  PagingOptions paging() const;
  /// As this plan of fitting() says.
  PagingOptions paging_of(const sampling::RunPlan& plan) const;
  /// The plan that make(paging) gives, where it fits: of the graph as it was read or, where that leaves too
  /// little memory, as it lies in its file. All ranks call it. Throws BudgetError that says all that the job
  /// needs, and what would do; with --plan, print_plan() does.
  template <class Make>
  auto fitting(const Make& make) {
    std::optional<std::invoke_result_t<const Make&, const PagingOptions&>> plan;
    const auto need = [&](const PagingOptions& paging) {
      plan.reset();
      plan = make(paging);
      return need_of(*plan);
    };
    try {
      fit(need);
    } catch (const BudgetError&) {
      if (counts_ranks()) count_ranks({}, need), print_ranks();
      throw;
    }
    if (counts_ranks())
      count_ranks(need_of(*plan), [&](const PagingOptions& paging) { return need_of(make(paging)); });
    return std::move(*plan);
  }
  /// Calls work(plan), `plan` being what fitting(make) gave. Where a part of it takes too much
  /// (JobNeed::most), the graph leaves its memory and the work begins again; the line of the refusal names
  /// what surely suffices.
  template <class Plan, class Make, class Work>
  void within_memory(Plan plan, const Make& make, const Work& work) {
    while (true) {
      try {
        return work(plan);
      } catch (const BudgetError& error) {
        const JobNeed need = need_of(plan);
        if (!may_begin_again()) throw_too_large(error, need);
        try {
          plan = fitting(make);
        } catch (const BudgetError&) {  // with less of the graph it would not begin
          if (need.most == 0) throw;
          throw_too_large(error, need);
        }
      }
    }
  }
  /// Gives up the GPU for the host where `too_large` says on any rank that the work is no GPU's, and none was
  /// asked for. All ranks call it.
  bool moves_to_host(bool too_large);

  /// Throws BudgetError where the device's memory is less than the plan says.
  void require_device_memory(std::uint64_t bytes) const;

  /// Fills in what every run takes from the common options: seed, layout, its share of the instances, and a
  /// progress bar that counts `unit` (" walks"). Throws UsageError for a share behind the last instance.
  void prepare(const HeldStarts& starts, const char* unit, RunOptions& run);

  /// Claims the output's name. `attributes` are the options of CONTRACT section 4; the command, starts (null:
  /// it has none), seed and graph are added here.
  io::ResultWriter& open_results(const std::vector<io::Attribute>& attributes, const Starts* starts,
                                 const std::vector<std::string>& text_columns);

  /// Adds an attribute that was not known when the results were opened. All ranks note the same.
  void note(const io::Attribute& attribute) { output_->note(attribute); }

  /// Writes what there is of every vertex.
  void write(const VertexColumns& columns);
  /// A graph that gets its name together with the results.
  void hold_graph(io::GraphWriter graph) { written_graph_.emplace(std::move(graph)); }

  /// Completes the output, says what was done, writes the report.
  void finish(const RunStats& run, const char* instance_name, const char* edge_name);
  void finish(const SolverFigures& solver);
  void finish(const AccFigures& acc);

  Progress& progress() { return progress_; }

  /// --plan: prints what the job would need, by a plan of fitting(); throws BudgetError if it does not fit.
  void print_plan(const sampling::RunPlan& plan) const;
  void print_plan(const pagerank::Plan& plan) const;
  void print_plan(const ppr::Plan& plan) const;
  void print_plan(const acc::AccPlan& plan) const;

 private:
  void open();
  /// In which ways the graph may be held, which is the better the sooner it comes.
  std::vector<GraphPlace> graph_places() const;
  /// What is read of the file's edges.
  io::GraphColumns columns() const;
  /// Where the graph was not read: in-edges that work on a file needs, and this one does not have.
  bool lacks_in_edges() const { return needs_.file_needs_in && info_.directed && !info_.has_in; }
  /// The graph is one whose edges are in the file, of which nothing is charged.
  void look();
  /// The graph is an outline, charged as what is read to its place would be, past the ceiling too.
  void outline();
  /// Reads the graph to its place.
  void load();
  /// What the graph takes of host memory as it was read, and the starts.
  std::uint64_t held_bytes() const;
  std::uint64_t graph_bytes() const;
  JobNeed need_of(const sampling::RunPlan& plan) const;
  JobNeed need_of(const pagerank::Plan& plan) const;
  JobNeed need_of(const ppr::Plan& plan) const;
  JobNeed need_of(const acc::AccPlan& plan) const;
  using FindNeed = std::function<JobNeed(const PagingOptions&)>;
  /// A plan with the graph at its place.
  struct Trial {
    std::optional<JobNeed> need;  ///< null: there is none, because of `reason`
    bool fits = false;            ///< this rank's memory
    bool all_fit = false;
    std::string reason;
  };
  /// All ranks call it.
  Trial try_plan(const FindNeed& need, const PagingOptions& paging);
  /// As fitting(); `need` throws BudgetError where there is no plan.
  void fit(const FindNeed& need);
  /// Is this one process, which plans what ranks share out? Then count_ranks() finds how many they must be,
  /// last of all; `known` is what one needs, if there is a plan of it.
  bool counts_ranks() const;
  void count_ranks(std::optional<JobNeed> known, const FindNeed& need);
  void print_ranks() const;
  bool in_file() const { return places_[place_].in_file; }
  /// Will hold less of the graph in memory, if that can be; false: it holds the least already. Of several
  /// ranks all do.
  bool hold_less();
  /// May what was written be withdrawn? Not where another rank or standard output has some of it.
  bool may_withdraw() const;
  /// Withdraws it and holds less; false: it may not, or the job holds the least.
  bool may_begin_again();
  /// Throws BudgetError.
  [[noreturn]] void throw_too_large(const BudgetError& error, const JobNeed& need) const;
  /// What each memory must allow, so that JobNeed::most surely fits. Of what is left, partitions
  /// take up to one half.
  std::uint64_t ample_device_bytes(const JobNeed& need) const;
  std::uint64_t ample_host_bytes(const JobNeed& need) const;
  /// Throws BudgetError where fitting() found that no plan fits.
  void throw_refusal() const;
  /// Has this rank the memory that a plan says the job needs?
  bool fits(const JobNeed& needed) const;
  /// The line for a job that does not fit with the graph at its last place: about the least memory that does,
  /// and other remedies; empty if none does. All ranks call it and find the same.
  std::string refusal(const FindNeed& need);
  void close();
  /// Everything was written: gives it its names.
  void publish();
  void say_not_converged(const std::string& after, double residual, const std::string& end) const;
  /// One line on standard error, and what was idle. `rate` is of `what` in so many seconds.
  void say_done(const std::string& what, double seconds, const std::string& rate,
                std::uint64_t partitions) const;
  /// --plan: prints the lines; throws where they do not fit.
  void print_plan(const std::string& text, std::uint64_t partitions) const;

  const Command& command_;
  const CommonOptions& options_;
  GraphNeeds needs_;
  bool by_numbers_ = false;
  Stopwatch watch_;
  ReportFile report_file_;
  std::unique_ptr<io::ReadAhead> ahead_;  ///< until the graph is read
  std::unique_ptr<Device> device_;
  Progress progress_;
  io::GraphInfo info_;  ///< of the graph as it is read
  Graph graph_;
  std::uint64_t starts_bytes_ = 0;
  std::function<void()> take_share_;  ///< sets the instances of this rank
  std::optional<io::GraphOutline> outline_;
  std::vector<GraphPlace> places_;
  std::size_t place_ = 0;    ///< where the graph is
  std::string refusal_;      ///< of a plan that does not fit
  std::string ranks_lines_;  ///< of count_ranks()
  std::unique_ptr<IdMap> ids_;
  std::unique_ptr<JobOutput> output_;
  std::optional<io::GraphWriter> written_graph_;
  Report report_;
};

/// As format_size, but never less than `bytes` where it is read again.
std::string format_need(std::uint64_t bytes);

/// An option and the kinds it has a meaning for.
struct KindOption {
  const char* name;
  std::vector<const char*> kinds;
};

/// Throws UsageError for an option that was given but has no meaning for `kind`.
void refuse_foreign_options(const Command& command, const std::string& kind,
                            const std::vector<KindOption>& options);

/// Throws UsageError for an option that was given but is `idle`; `where` ends "has no meaning ...".
void refuse_idle_option(const Command& command, const char* option, bool idle, const std::string& where);

}  // namespace sluice::apps

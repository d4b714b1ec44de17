// SIMD-X's experiments (ATC'19): combine with atomics and without (Fig. 5), filters (Fig. 8, 9 and 12),
// fusion of kernels, and push beside pull.
#include <functional>
#include <memory>

#include "apps/bench/papers/tables.hpp"
#include "apps/bench/workload.hpp"
#include "apps/cli/names.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/solve.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::bench::papers {

namespace {

constexpr unsigned kHostScale = 16, kGpuScale = 22, kGridHostScale = 14, kGridGpuScale = 20;
constexpr unsigned kSources = 4;
constexpr unsigned kBeliefRounds = 10;

/// One of the paper's programs. `run` returns the work of all its sources.
struct Program {
  const char* name;
  std::function<std::vector<acc::AccStats>(const acc::AccOptions&)> run;
  bool pulls_alone = false;
  acc::AccDirection usual = acc::AccDirection::automatic;  ///< of its command
};

/// Sources' means.
struct Mean {
  std::vector<double> milliseconds;
  double rounds = 0, refills = 0, pulls = 0, launches = 0, push_registers = 0, pull_registers = 0;
};

class Simdx {
 public:
  Simdx(Tables& tables, Device& device, Graph graph)
      : tables_(tables),
        device_(device),
        graph_(std::move(graph)),
        sources_(sources_of(graph_, kSources)),
        lists_(device, graph_, {.in_edges = true, .weights = true}) {}

  const Graph& graph() const { return graph_; }

  /// Bfs pushes alone: rounds that pull look through all states in any case.
  void filters() {
    for (const Program& program : programs()) {
      double ballot = 0;
      for (const auto filter :
           {acc::AccFilter::ballot, acc::AccFilter::jit, acc::AccFilter::online, acc::AccFilter::batch}) {
        const std::string row =
            std::string(program.name) + ", " + std::string(apps::name_of(apps::kAccFilters, filter));
        if (!has_kernels(row)) continue;
        const Mean mean = measure(row, program, {acc::AccDirection::push, filter});
        if (filter == acc::AccFilter::ballot) ballot = median(mean.milliseconds);
        put(row, mean, {{"times ballot", ballot / median(mean.milliseconds)}});
      }
    }
  }

  void fusions() {
    auto fused = programs();
    fused.push_back(beliefs());
    for (const Program& program : fused) {
      double all = 0;
      for (const auto fusion : {acc::AccFusion::all, acc::AccFusion::push_pull, acc::AccFusion::none}) {
        if (program.pulls_alone && fusion == acc::AccFusion::push_pull) continue;
        const std::string row =
            std::string(program.name) + ", " + std::string(apps::name_of(apps::kAccFusions, fusion));
        if (!has_kernels(row)) continue;
        const Mean mean = measure(row, program, {acc::AccDirection::automatic, acc::AccFilter::jit, fusion});
        if (fusion == acc::AccFusion::all) all = median(mean.milliseconds);
        put(row, mean,
            {{"times all", all / median(mean.milliseconds)},
             {"launches", mean.launches},
             {"push registers", mean.push_registers},
             {"pull registers", mean.pull_registers}});
      }
    }
  }

  void directions() {
    for (const Program& program : programs()) {
      double push = 0;
      for (const auto direction :
           {acc::AccDirection::push, acc::AccDirection::pull, acc::AccDirection::automatic}) {
        const std::string row =
            std::string(program.name) + ", " + std::string(apps::name_of(apps::kAccDirections, direction));
        const Mean mean = measure(row, program, {direction});
        if (direction == acc::AccDirection::push) push = median(mean.milliseconds);
        put(row, mean, {{"times push", push / median(mean.milliseconds)}, {"rounds that pull", mean.pulls}});
      }
    }
  }

  /// Every edge of a push is an atomic operation on its target; a pull combines in a thread or a group, and
  /// looks through all states in any case, whatever the filter.
  void combines() {
    struct Way {
      const char* name;
      acc::AccOptions options;
    };
    using enum acc::AccDirection;
    const Way ways[] = {{"atomics", {push, acc::AccFilter::jit}},
                        {"atomics, online", {push, acc::AccFilter::online}},
                        {"atomics, ballot", {push, acc::AccFilter::ballot}},
                        {"no atomics", {pull, acc::AccFilter::jit}}};
    for (const Program& program : programs()) {
      double atomics = 0;
      for (const Way& way : ways) {
        const std::string row = std::string(program.name) + ", " + way.name;
        if (way.options.filter != acc::AccFilter::jit && !has_kernels(row)) continue;
        const Mean mean = measure(row, program, way.options);
        if (atomics == 0) atomics = median(mean.milliseconds);
        put(row, mean, {{"times atomics", atomics / median(mean.milliseconds)}});
      }
    }
  }

  /// As the commands have them: paths and cores push.
  void runtimes(const std::string& graph) {
    auto all = programs();
    if (!graph_.directed) all.push_back(beliefs());  // messages go both ways
    std::vector<std::pair<std::string, std::vector<double>>> cells;
    for (const Program& program : all)
      cells.emplace_back(std::string(program.name) + ", ms",
                         measure(graph + ", " + program.name, program, {program.usual}).milliseconds);
    tables_.measuring(graph + ", pagerank");
    std::vector<double> ranks;
    for (unsigned r = 0; r <= tables_.options().repetitions; ++r) {
      const double seconds = pagerank::run_pagerank(device_, graph_, {}).compute_seconds;
      if (r > 0) ranks.push_back(seconds * 1e3);
    }
    cells.emplace_back("pagerank, ms", std::move(ranks));
    tables_.put_cells(graph, "ms of bfs", std::move(cells), graph_);
  }

 private:
  std::vector<Program> programs() {
    return {{"bfs",
             [this](const acc::AccOptions& options) {
               std::vector<acc::AccStats> stats;
               for (const Vertex source : sources_) stats.push_back(bfs(lists_, source, options).stats);
               return stats;
             }},
            {"sssp",
             [this](const acc::AccOptions& options) {
               std::vector<acc::AccStats> stats;
               for (const Vertex source : sources_) stats.push_back(sssp(lists_, source, 0, options).stats);
               return stats;
             },
             false, acc::AccDirection::push},
            {"kcore",
             [this](const acc::AccOptions& options) {
               return std::vector<acc::AccStats>{core_numbers(simple(), 0, options).stats};
             },
             false, acc::AccDirection::push}};
  }

  /// The fourth. Its rounds are alike, so that a few are enough.
  Program beliefs() {
    return {"bp",
            [this](const acc::AccOptions& options) {
              if (!messages_) {
                messages_ = std::make_unique<acc::AccGraph>(acc::belief_graph(device_, graph_, 2));
                model_ = two_states(graph_);
              }
              const acc::BeliefOptions limits{
                  .tolerance = 0, .max_iterations = kBeliefRounds, .fusion = options.fusion};
              return std::vector<acc::AccStats>{propagate_beliefs(*messages_, model_, limits).stats};
            },
            true};
  }

  const acc::AccGraph& simple() {
    if (!simple_)
      simple_ =
          std::make_unique<acc::AccGraph>(device_, graph_, acc::AccNeeds{.in_edges = true, .simple = true});
    return *simple_;
  }

  /// Filters and fusions choose among a GPU's kernels.
  bool has_kernels(const std::string& row) {
    if (!device_.is_cuda()) tables_.put_words(row, kNeedsGpu);
    return device_.is_cuda();
  }

  /// After a first run, which warms up.
  Mean measure(const std::string& row, const Program& program, const acc::AccOptions& options) {
    tables_.measuring(row);
    Mean mean;
    for (unsigned r = 0; r <= tables_.options().repetitions; ++r) {
      const auto all = program.run(options);
      if (r > 0) mean = added(std::move(mean), all);
    }
    return mean;
  }

  /// Counts are the same in every repetition, but for what depends on the order of atomic operations.
  static Mean added(Mean mean, const std::vector<acc::AccStats>& all) {
    Mean run;
    double seconds = 0;
    const auto count = static_cast<double>(all.size());
    for (const acc::AccStats& stats : all) {
      seconds += stats.compute_seconds;
      run.rounds += static_cast<double>(stats.rounds) / count;
      run.refills += static_cast<double>(stats.refills) / count;
      run.pulls += static_cast<double>(stats.pulls) / count;
      run.launches += static_cast<double>(stats.kernel_launches) / count;
      run.push_registers = stats.push_registers, run.pull_registers = stats.pull_registers;
    }
    run.milliseconds = std::move(mean.milliseconds);
    run.milliseconds.push_back(seconds / count * 1e3);
    return run;
  }

  void put(const std::string& row, const Mean& mean, Columns columns) {
    columns.emplace_back("rounds", mean.rounds);
    columns.emplace_back("ballot rounds", mean.refills);
    tables_.put(row, mean.milliseconds, "ms", std::move(columns));
  }

  Tables& tables_;
  Device& device_;
  Graph graph_;
  std::vector<Vertex> sources_;
  acc::AccGraph lists_;
  std::unique_ptr<acc::AccGraph> simple_, messages_;
  acc::BeliefModel model_;
};

/// The tables of one graph, which is made when the first of them is wanted.
void tables_of(Tables& tables, Device& device, const char* kind, const std::function<Graph()>& make) {
  std::unique_ptr<Simdx> programs;
  const auto table = [&](const char* name, void (Simdx::*rows)()) {
    if (!tables.begin(std::string("SIMD-X ") + name + ", " + kind)) return;
    if (!programs) programs = std::make_unique<Simdx>(tables, device, make());
    tables.on(kind, programs->graph());
    (*programs.*rows)();
  };
  table("filters", &Simdx::filters);
  table("fusion", &Simdx::fusions);
  table("directions", &Simdx::directions);
  table("combine", &Simdx::combines);
}

}  // namespace

/// What the programs take on a graph, and to PageRank's 1e-10: a row.
void runtimes_on(Tables& tables, Device& device, const std::string& name, Graph graph) {
  if (graph.directed && graph.in.offsets.empty()) return tables.put_words(name, "has no in-edges");
  Simdx(tables, device, std::move(graph)).runtimes(name);
}

void run_simdx(Tables& tables, Device& device) {
  tables_of(tables, device, "Kronecker", [&] { return tables.graph(kHostScale, kGpuScale); });
  if (tables.options().graph.empty())
    tables_of(tables, device, "grid",
              [&] { return tables.graph(kGridHostScale, kGridGpuScale, io::GraphKind::grid); });
  tables.on_graphs("SIMD-X graphs", false, [&](const std::string& name, Graph graph) {
    runtimes_on(tables, device, name, std::move(graph));
  });
}

}  // namespace sluice::bench::papers

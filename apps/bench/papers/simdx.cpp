// SIMD-X's experiments (ATC'19): combine with and without atomics (Fig. 5), filters (Fig. 8, 9 and 12),
// fusion of kernels, and push compared with pull.
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>

#include "apps/bench/papers/combine.hpp"
#include "apps/bench/papers/rank_fusion.hpp"
#include "apps/bench/papers/tables.hpp"
#include "apps/bench/workload.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/solve.hpp"
#include "engine/pagerank/static/pagerank.hpp"

namespace sluice::bench::papers {

namespace {

constexpr unsigned kHostScale = 16, kGpuScale = 22, kGridHostScale = 14, kGridGpuScale = 20;
constexpr unsigned kSources = 4;
constexpr unsigned kBeliefRounds = 10;
constexpr std::uint32_t kPublishedCore = 32;
constexpr unsigned kBins[] = {1, 4, 16, 64, 256};
constexpr std::size_t kTenths = 10;

/// One of the paper's programs. `run` returns the statistics for each of its sources.
struct Program {
  const char* name;
  std::function<std::vector<acc::AccStats>(const acc::AccOptions&)> run;
  acc::AccDirection default_direction = acc::AccDirection::automatic;  ///< the default of its command
};

/// Means over the sources.
struct Mean {
  std::vector<double> milliseconds;
  double rounds = 0, refills = 0, pulls = 0, edges = 0, launches = 0, push_registers = 0, pull_registers = 0;
  std::vector<acc::AccRoundTrace> trace;  ///< of the last run of the last source
};

class Simdx {
 public:
  Simdx(Tables& tables, Device& device, Graph graph, acc::AccPlace place = {})
      : tables_(tables),
        device_(device),
        graph_(std::move(graph)),
        place_(place),
        sources_(sources_of(graph_, kSources)),
        lists_(device, graph_, {.in_edges = true, .weights = true}, place) {}

  const Graph& graph() const { return graph_; }

  /// BFS only pushes here: pull rounds scan all states with any filter.
  void filters() {
    compare(programs(),
            {{"ballot", {push, ballot}},
             {"jit", {push, jit}},
             {"jit, by the whole grid", {.direction = push, .filter = jit, .few_blocks = false}},
             {"online", {push, online}},
             {"batch", {push, batch}}},
            "times ballot");
  }
  void filters_in_partitions() {
    compare(programs(), {{"ballot", {push, ballot}}, {"jit", {push, jit}}, {"online", {push, online}}},
            "times ballot");
  }

  /// On ranks there are only two filters.
  void filters_on_ranks() {
    compare(programs(), {{"ballot", {push, ballot}}, {"jit", {push, jit}}}, "times ballot");
  }

  /// Measures the size of the threads' bins. If a bin is full, jit discards all bins and uses a ballot.
  void bins() {
    std::vector<Variant> variants{{"ballot", {push, ballot}}};
    for (const unsigned bin : kBins)
      variants.push_back({"bins of " + std::to_string(bin), {.direction = push, .bin = bin}});
    compare(programs(), variants, "times ballot");
  }

  /// The percentage of rounds with a ballot, in each tenth of the rounds.
  void patterns() {
    for (const Program& program : programs()) {
      if (!tables_.has_gpu(program.name)) continue;
      const Mean mean = measure(program.name, program, {program.default_direction});
      Columns columns;
      for (std::size_t tenth = 0; tenth < kTenths; ++tenth) {
        const std::size_t begin = mean.trace.size() * tenth / kTenths,
                          end = mean.trace.size() * (tenth + 1) / kTenths;
        const auto ballots = std::count_if(mean.trace.begin() + static_cast<std::ptrdiff_t>(begin),
                                           mean.trace.begin() + static_cast<std::ptrdiff_t>(end),
                                           [](const acc::AccRoundTrace& round) { return round.refilled; });
        const double rounds = static_cast<double>(std::max<std::size_t>(end - begin, 1));
        columns.emplace_back("% " + std::to_string(tenth + 1), 100 * static_cast<double>(ballots) / rounds);
      }
      add_row(program.name, mean, std::move(columns));
    }
  }

  void fusions() {
    using enum acc::AccFusion;
    const auto launched = [](const Mean& mean) {
      return Columns{{"launches", mean.launches},
                     {"push registers", mean.push_registers},
                     {"pull registers", mean.pull_registers}};
    };
    const Variant fused{"all", {.fusion = all}}, push_pull_fused{"push-pull", {.fusion = push_pull}},
        unfused{"none", {.fusion = none}};
    compare(programs(), {fused, push_pull_fused, unfused}, "times all", true, launched);
    compare({beliefs()}, {fused, unfused}, "times all", true, launched);  // only pulls
    add_rank_fusions(tables_, device_, graph_);
  }

  void directions() {
    compare(programs(), {{"push", {.direction = push}}, {"pull", {.direction = pull}}, {"auto", {}}},
            "times push", false, [this](const Mean& mean) {
              return Columns{{"rounds that pull", mean.pulls},
                             {"looks at an edge", mean.edges / static_cast<double>(graph_.edges())}};
            });
  }

  /// Each edge of a push is an atomic operation on its target. A pull combines in a thread or a group, and
  /// scans all states with any filter.
  void combines() {
    compare(programs(),
            {{"atomics", {push, jit}},
             {"atomics, online", {push, online}},
             {"atomics, ballot", {push, ballot}},
             {"no atomics", {pull, jit}}},
            "times atomics", false);
    for (const auto& [name, of] : {std::pair("bfs", &push_bfs), {"sssp", &push_sssp}})
      push_combines(name, [this, push_from = of](PushCombine combine) {
        PushRounds sum;
        for (const Vertex source : sources_) {
          const PushRounds one = push_from(lists_, source, combine);
          sum.seconds += one.seconds / kSources, sum.rounds += one.rounds / kSources;
        }
        return sum;
      });
    push_combines("kcore --k 16", [this](PushCombine combine) { return push_kcore(simple(), 16, combine); });
  }

  /// With the directions of the commands: paths and cores push.
  void runtimes(const std::string& graph) {
    auto all = programs();
    all.push_back(cores("kcore --k 32", kPublishedCore));
    if (!graph_.directed) all.push_back(beliefs());  // messages need both directions
    std::vector<std::pair<std::string, std::vector<double>>> cells;
    for (const Program& program : all)
      cells.emplace_back(
          std::string(program.name) + ", ms",
          measure(graph + ", " + program.name, program, {program.default_direction}).milliseconds);
    pagerank::Result last;
    cells.emplace_back("pagerank, ms", rank_times(tables_, device_, graph_, graph + ", pagerank", {}, last));
    tables_.add_row_of_cells(graph, "ms of bfs", std::move(cells), graph_);
  }

 private:
  using enum acc::AccDirection;
  using enum acc::AccFilter;

  /// The paper's comparison: both push, with one launch per step of a round.
  void push_combines(const std::string& program, const std::function<PushRounds(PushCombine)>& run) {
    double atomics = 0;
    for (const auto& [name, combine] : {std::pair(", atomics, launches", PushCombine::atomics),
                                        {", no atomics, sorted values", PushCombine::sorted}}) {
      tables_.report_progress(program + name);
      PushRounds last;
      const std::vector<double> milliseconds =
          repeated(tables_.options().repetitions, [&] { return (last = run(combine)).seconds * 1e3; });
      tables_.add_compared_row(atomics, program + name, milliseconds, {{"rounds", last.rounds}},
                               "times atomics");
    }
  }

  /// One of several ways to run a program.
  struct Variant {
    std::string name;
    acc::AccOptions options;
  };

  /// Adds a row per program and way, with the speed-up over the first way and the columns of `more`. The host
  /// has no filters: rows that are `of_gpu`, or have another filter than jit, need a GPU.
  void compare(const std::vector<Program>& selected, const std::vector<Variant>& variants, const char* column,
               bool needs_gpu = true, const std::function<Columns(const Mean&)>& more_columns = {}) {
    for (const Program& program : selected) {
      double first = 0;
      for (const auto& [name, options] : variants) {
        const std::string row = std::string(program.name) + ", " + name;
        if ((needs_gpu || options.filter != jit) && !tables_.has_gpu(row)) continue;
        const Mean mean = measure(row, program, options);
        if (first == 0) first = median(mean.milliseconds);
        Columns columns{{column, first / median(mean.milliseconds)}};
        if (more_columns) std::ranges::copy(more_columns(mean), std::back_inserter(columns));
        add_row(row, mean, std::move(columns));
      }
    }
  }

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
             acc::AccDirection::push},
            cores("kcore", 0)};
  }

  /// All core numbers, or the members of the k-core.
  Program cores(const char* name, std::uint32_t k) {
    return {name,
            [this, k](const acc::AccOptions& options) {
              return std::vector<acc::AccStats>{core_numbers(simple(), k, options).stats};
            },
            acc::AccDirection::push};
  }

  /// The fourth program. Its rounds are alike, so a few are enough.
  Program beliefs() {
    return {"bp", [this](const acc::AccOptions& options) {
              if (!messages_) {
                messages_ = std::make_unique<acc::AccGraph>(acc::belief_graph(device_, graph_, 2));
                model_ = two_states(graph_);
              }
              const acc::BeliefOptions limits{
                  .tolerance = 0, .max_iterations = kBeliefRounds, .fusion = options.fusion};
              return std::vector<acc::AccStats>{propagate_beliefs(*messages_, model_, limits).stats};
            }};
  }

  const acc::AccGraph& simple() {
    if (!simple_)
      simple_ = std::make_unique<acc::AccGraph>(device_, graph_,
                                                acc::AccNeeds{.in_edges = true, .simple = true}, place_);
    return *simple_;
  }

  /// Counts are equal in all repetitions, unless they depend on the order of atomic operations.
  Mean measure(const std::string& row, const Program& program, const acc::AccOptions& options) {
    tables_.report_progress(row);
    Mean mean;
    mean.milliseconds = repeated(tables_.options().repetitions, [&] {
      const auto all = program.run(options);
      mean = {};
      double seconds = 0;
      const auto count = static_cast<double>(all.size());
      for (const acc::AccStats& stats : all) {
        seconds += stats.compute_seconds;
        mean.rounds += static_cast<double>(stats.rounds) / count;
        mean.refills += static_cast<double>(stats.refills) / count;
        mean.pulls += static_cast<double>(stats.pulls) / count;
        mean.edges += static_cast<double>(stats.edges) / count;
        mean.launches += static_cast<double>(stats.kernel_launches) / count;
        mean.push_registers = stats.push_registers, mean.pull_registers = stats.pull_registers;
      }
      mean.trace = all.back().trace;
      return seconds / count * 1e3;
    });
    return mean;
  }

  void add_row(const std::string& row, const Mean& mean, Columns columns) {
    columns.emplace_back("rounds", mean.rounds);
    columns.emplace_back("ballot rounds", mean.refills);
    tables_.add_row(row, mean.milliseconds, "ms", std::move(columns));
  }

  Tables& tables_;
  Device& device_;
  Graph graph_;
  acc::AccPlace place_;
  std::vector<Vertex> sources_;
  acc::AccGraph lists_;
  std::unique_ptr<acc::AccGraph> simple_, messages_;
  acc::BeliefModel model_;
};

/// The tables of one graph, which is made for the first of them that is wanted.
void tables_of(Tables& tables, Device& device, const char* kind, const std::function<Graph()>& make) {
  std::unique_ptr<Simdx> programs;
  const auto table = [&](const char* name, void (Simdx::*rows)()) {
    if (!tables.begin(std::string("SIMD-X ") + name + ", " + kind)) return;
    if (!programs) programs = std::make_unique<Simdx>(tables, device, make());
    tables.set_graph(kind, programs->graph());
    (*programs.*rows)();
  };
  table("filters", &Simdx::filters);
  table("bins", &Simdx::bins);
  table("patterns", &Simdx::patterns);
  table("fusion", &Simdx::fusions);
  table("directions", &Simdx::directions);
  table("combine", &Simdx::combines);
}

}  // namespace

/// Adds a row: times of the programs on a graph, and of PageRank to 1e-10.
void runtimes_on(Tables& tables, Device& device, const std::string& name, Graph graph) {
  if (graph.directed && graph.in.offsets.empty()) return tables.add_text(name, "has no in-edges");
  Simdx(tables, device, std::move(graph)).runtimes(name);
}

void run_simdx_on_ranks(Tables& tables, Device& device) {
  const PagingOptions whole, parts{.partitions = 4, .slots = 2};
  for (const auto& [name, paging] :
       {std::pair("SIMD-X filters on ranks", whole), {"SIMD-X filters on ranks, in partitions", parts}}) {
    if (!tables.begin(name)) continue;
    if (apps::world().size() == 1) {
      tables.add_text("all", "needs several ranks");
      continue;
    }
    Simdx ranks(tables, device, tables.graph(kHostScale, kGpuScale),
                {.paging = paging, .ranks = &apps::world()});
    tables.set_graph("Kronecker", ranks.graph());
    ranks.filters_on_ranks();
  }
}

void run_simdx(Tables& tables, Device& device) {
  tables_of(tables, device, "Kronecker", [&] { return tables.graph(kHostScale, kGpuScale); });
  if (tables.options().graph.empty())
    tables_of(tables, device, "grid",
              [&] { return tables.graph(kGridHostScale, kGridGpuScale, io::GraphKind::grid); });
  const auto in_partitions = [&](const char* name, void (Simdx::*rows)()) {
    if (!tables.begin(name)) return;
    Simdx parts(tables, device, tables.graph(kHostScale, kGpuScale),
                {.paging = {.partitions = 4, .slots = 2}});
    tables.set_graph("Kronecker", parts.graph());
    (parts.*rows)();
  };
  in_partitions("SIMD-X filters in partitions", &Simdx::filters_in_partitions);
  in_partitions("SIMD-X directions in partitions", &Simdx::directions);
  if (tables.options().graph.empty() && tables.begin("SIMD-X generated graphs")) {
    for (const auto& [name, kind] : {std::pair("kronecker", io::GraphKind::kronecker),
                                     {"rmat", io::GraphKind::rmat},
                                     {"uniform", io::GraphKind::uniform}})
      runtimes_on(tables, device, name, tables.graph(kHostScale, kGpuScale, kind));
  }
  tables.for_each_graph_file("SIMD-X graphs", false, [&](const std::string& name, Graph graph) {
    runtimes_on(tables, device, name, std::move(graph));
  });
}

}  // namespace sluice::bench::papers

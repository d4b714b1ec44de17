// C-SAW's experiments (SC'20): rates of its applications in memory (Fig. 9), selection without replacement
// (Fig. 10 to 12), graphs in partitions (Fig. 13 to 15), and sizes of samples (Fig. 16).
#include <algorithm>
#include <iterator>
#include <optional>

#include "apps/bench/papers/scanned_pool.hpp"
#include "apps/bench/papers/tables.hpp"
#include "apps/cli/values.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/samples/pool/bias_tree.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench::papers {

namespace {

constexpr unsigned kHostScale = 16, kGpuScale = 22;

/// The extent of each application: a host draws at a hundredth of the rate of a GPU.
struct Extent {
  Instance instances, walks, pools, balls, picking;
};
constexpr Extent kHostExtent{4000, 4000, 8, 32, 4096}, kGpuExtent{4000, 4000, 1000, 256, 65536};
constexpr std::uint32_t kWalkLength = 2000, kPools[] = {20, 2000}, kPoolSteps = 2000;
constexpr std::uint64_t kCount = 100;  ///< vertices or edges of a `node` or `edge` sample

/// Turns of techniques: at most this many times the repetitions, while their time is below the limit.
constexpr unsigned kMaxRuns = 20;
constexpr double kMaxMilliseconds = 400;

struct Application {
  const char* name;
  samples::Options options;
};

samples::Options options_of(samples::Kind kind, Bias bias = Bias::none) {
  samples::Options o;
  o.kind = kind, o.bias = bias;
  return o;
}

/// The four applications of C-SAW's selection tests, in its order; `size` neighbours per vertex, two depths.
std::vector<Application> applications(std::int64_t size) {
  std::vector<Application> all{{"biased neighbor", options_of(samples::Kind::neighbor, Bias::degree)},
                               {"forest fire", options_of(samples::Kind::forest_fire)},
                               {"layer", options_of(samples::Kind::layer, Bias::degree)},
                               {"unbiased neighbor", options_of(samples::Kind::neighbor)}};
  const auto wide = static_cast<std::uint64_t>(size);
  all[0].options.fanout = all[3].options.fanout = {size, size};
  all[2].options.layer_sizes = {wide, wide * wide};
  return all;
}

struct Technique {
  const char* name;
  Select select;
  Collision collision;
};
constexpr Technique kTechniques[] = {
    {"repeated", Select::repeated, Collision::linear},
    {"updated", Select::updated, Collision::linear},
    {"bipartite", Select::bipartite, Collision::linear},
    {"bipartite, bitmap", Select::bipartite, Collision::strided_bitmap},
    {"bipartite, bitmap of bytes", Select::bipartite, Collision::strided_bytes},
};

class Csaw {
 public:
  Csaw(Tables& tables, Device& device)
      : tables_(tables), device_(device), extent_(device.is_cuda() ? kGpuExtent : kHostExtent) {}

  void run() {
    if (tables_.begin("C-SAW rates")) rates();
    if (tables_.begin("C-SAW selection")) selection();
    if (tables_.begin("C-SAW sizes")) sizes();
    resident_.reset();
    if (tables_.begin("C-SAW partitions")) partitions();
    tables_.for_each_graph_file("C-SAW graphs", false, [&](const std::string& name, Graph graph) {
      rates_on(name, std::move(graph));
    });
  }

 private:
  ResidentGraph& resident() {
    if (!resident_) {
      graph_ = tables_.graph(kHostScale, kGpuScale);
      resident_.emplace(device_, graph_);
    }
    tables_.set_graph("Kronecker", graph_);
    return *resident_;
  }

  /// Times in ms, after a first run that builds the tables; `last` is the last run.
  template <class Run>
  std::vector<double> times(const std::string& row, RunStats& last, const Run& run) {
    tables_.report_progress(row);
    return repeated(tables_.options().repetitions, [&] {
      last = run();
      return last.compute_seconds * 1e3;
    });
  }

  std::vector<double> sample(const std::string& row, samples::Options o, Instance instances, RunStats& last) {
    o.seed = tables_.options().seed;
    return times(row, last,
                 [&] { return sampling::run_samples(*resident_, random_starts(instances), o, nullptr); });
  }

  static std::vector<double> rates_of(const std::vector<double>& milliseconds, const RunStats& last) {
    std::vector<double> rates;
    for (const double time : milliseconds)
      rates.push_back(static_cast<double>(last.sampled_edges) / time * 1e-3);
    return rates;
  }

  void add_rate(const std::string& row, const std::vector<double>& milliseconds, const RunStats& last) {
    tables_.add_row(row, rates_of(milliseconds, last), "M edges/s", {{"ms", median(milliseconds)}});
  }

  /// One row: the four applications on a graph.
  void rates_on(const std::string& name, Graph graph) {
    graph_ = std::move(graph);
    resident_.emplace(device_, graph_);
    std::vector<std::pair<std::string, std::vector<double>>> cells;
    for (const Application& application : applications(2)) {
      RunStats last;
      const auto milliseconds =
          sample(name + ", " + application.name, application.options, extent_.instances, last);
      cells.emplace_back(std::string(application.name) + ", M edges/s", rates_of(milliseconds, last));
      resident_->drop_tables();
    }
    tables_.add_row_of_cells(name, "M edges/s of biased neighbor", std::move(cells), graph_);
    resident_.reset();
  }

  void rates() {
    resident();
    RunStats last;
    auto all = applications(2);
    all.push_back({"snowball", options_of(samples::Kind::snowball)});
    for (const Application& application : all) {
      const bool ball = application.options.kind == samples::Kind::snowball;
      const Instance instances = ball ? extent_.balls : extent_.instances;
      const auto milliseconds = sample(application.name, application.options, instances, last);
      add_rate(std::string(application.name) + ", " + apps::format_count(instances) + " instances",
               milliseconds, last);
      resident_->drop_tables();
    }
    for (const auto& [name, kind] :
         {std::pair("node, ", samples::Kind::node), {"edge, ", samples::Kind::edge}}) {
      samples::Options chosen = options_of(kind);
      chosen.count = std::min<std::uint64_t>(kCount, graph_.vertices());
      const auto milliseconds = sample(name, chosen, extent_.instances, last);
      add_rate(name + apps::format_count(extent_.instances) + " instances", milliseconds, last);
    }
    walks::Options walk;
    walk.kind = walks::Kind::biased, walk.bias = Bias::degree, walk.length = kWalkLength;
    walk.seed = tables_.options().seed;
    const auto walked = [&](Instance instances) {
      return sampling::run_walks(*resident_, random_starts(instances), walk, nullptr);
    };
    walks("biased walk, ", extent_.walks, walked);
    walk.kind = walks::Kind::multidimensional, walk.length = kPoolSteps;
    for (const std::uint32_t size : kPools) {
      const std::string name = "multidimensional, FrontierSize " + apps::format_count(size) + ", ";
      walk.frontier_size = size;
      walks(name, extent_.pools, walked);
      if (size <= samples::BiasTree::kFan) continue;  // up to this size the tree is a scan
      walks(name + "pool scanned, ", extent_.pools, [&](Instance instances) {
        return run_scanned_pool(*resident_, random_starts(instances), size, kPoolSteps, walk);
      });
    }
  }

  template <class Run>
  void walks(const std::string& name, Instance instances, const Run& run) {
    RunStats last;
    const auto milliseconds = times(name, last, [&] { return run(instances); });
    add_rate(name + apps::format_count(instances) + " instances", milliseconds, last);
    resident_->drop_tables();
  }

  void selection() {
    resident();
    for (const Application& application : applications(8)) {
      add_selection(application, select_alternating(application));
      resident_->drop_tables();
    }
  }

  /// The times of one technique in all turns.
  struct Selected {
    std::vector<double> milliseconds;
    RunStats last;

    double per_pick(std::uint64_t count) const {
      return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(last.selections, 1));
    }
  };

  /// Techniques take turns, so that other load affects all of them alike. Short runs take more turns.
  std::vector<Selected> select_alternating(const Application& application) {
    const Instance instances = std::min<Instance>(graph_.vertices(), extent_.picking);
    const unsigned repetitions = tables_.options().repetitions;
    std::vector<Selected> selected(std::size(kTechniques));
    double elapsed = 0;
    for (unsigned r = 0; r <= repetitions || (r <= kMaxRuns * repetitions && elapsed < kMaxMilliseconds);
         ++r) {
      for (std::size_t t = 0; t < selected.size(); ++t) {
        tables_.report_progress(application.name);
        samples::Options o = application.options;
        o.select = kTechniques[t].select, o.collision = kTechniques[t].collision;
        o.seed = tables_.options().seed;
        selected[t].last = sampling::run_samples(*resident_, random_starts(instances), o, nullptr);
        if (r == 0) continue;  // warm-up, which builds the tables
        selected[t].milliseconds.push_back(selected[t].last.compute_seconds * 1e3);
        elapsed += selected[t].milliseconds.back();
      }
    }
    return selected;
  }

  void add_selection(const Application& application, const std::vector<Selected>& selected) {
    const double repeated = median(selected.front().milliseconds);
    double linear = 0;
    for (std::size_t t = 0; t < selected.size(); ++t) {
      const std::string row = std::string(application.name) + ", " + kTechniques[t].name;
      const RunStats& last = selected[t].last;
      const double searches = selected[t].per_pick(last.collision_searches);
      Columns columns{{"times repeated", repeated / median(selected[t].milliseconds)},
                      {"iterations a pick", selected[t].per_pick(last.selection_iterations)},
                      {"searches a pick", searches}};
      if (kTechniques[t].collision == Collision::linear) {
        linear = searches;
      } else if (linear > 0) {
        columns.emplace_back("% searches saved", 100 * (1 - searches / linear));
      }
      tables_.add_row(row, selected[t].milliseconds, "ms", std::move(columns));
    }
  }

  /// One size varies; the other is at its maximum.
  void sizes() {
    constexpr Instance kMaxInstances = 16000;
    constexpr std::int64_t kLargest = 8;
    resident();
    const auto time = [&](Instance instances, std::int64_t size) {
      samples::Options o = options_of(samples::Kind::neighbor, Bias::degree);
      o.fanout = {size, size, size};
      const std::string row =
          apps::format_count(instances) + " instances, NeighborSize " + std::to_string(size);
      RunStats last;
      auto milliseconds = sample(row, o, instances, last);
      const auto edges = static_cast<double>(last.sampled_edges);
      const double rate = edges / median(milliseconds) * 1e-3;
      tables_.add_row(row, std::move(milliseconds), "ms", {{"edges", edges}, {"M edges/s", rate}});
    };
    for (const std::int64_t size : {1, 2, 4}) time(kMaxInstances, size);
    for (const Instance instances : {2000, 4000, 8000, 16000}) time(instances, kLargest);
    resident_->drop_tables();
  }

  /// The figures of the ablation suite with 4,000 instances.
  void partitions() {
    Options options = tables_.options();
    if (options.scale == 0) options.scale = device_.is_cuda() ? kGpuScale : kHostScale;
    options.wanted = [](const std::string& name) { return name.find(", 4000: ") != name.npos; };
    double first = 0, vertices = 0;
    std::string against;
    for (const Figure& figure : run_ablation(device_, options)) {
      if (figure.name == "vertices") vertices = figure.value;
      if (figure.name == "stored edges")
        tables_.set_graph("Kronecker, four partitions if not said otherwise, two of them on the device",
                          static_cast<std::uint64_t>(vertices), static_cast<std::uint64_t>(figure.value));
      const auto colon = figure.name.find(", 4000: ");
      if (colon == figure.name.npos) continue;
      const std::string row = figure.name.substr(0, colon) + ", " + figure.name.substr(colon + 8);
      for (const char* name : {"none", "fifo"})
        if (row.ends_with(std::string(", ") + name)) first = figure.value, against = name;
      Columns columns{{"times " + against, first / figure.value}};
      columns.insert(columns.end(), figure.columns.begin(), figure.columns.end());
      tables_.add_row(row, {figure.low, figure.value, figure.high}, "ms", std::move(columns));
    }
  }

  Tables& tables_;
  Device& device_;
  Extent extent_;
  Graph graph_;
  std::optional<ResidentGraph> resident_;
};

}  // namespace

void run_csaw(Tables& tables, Device& device) {
  Csaw(tables, device).run();
}

}  // namespace sluice::bench::papers

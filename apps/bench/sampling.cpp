// sluice-bench sampling: standard workloads of the field, each figure next to a limit measured in the same
// run.
#include <algorithm>
#include <bit>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/limits.hpp"
#include "apps/bench/workload.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

constexpr Instance kAllInstances = ~Instance{0};

/// The extent of each workload. CPU cores draw at a hundredth of the rate of a GPU. They run the workloads by
/// which hosts are commonly compared, with fewer seeds, so that the suite takes about a minute at scale 20.
struct Extent {
  bool all = true;                     ///< all kinds and techniques, and C-SAW's settings
  Instance first_run = kAllInstances;  ///< instances of the first run, which builds the tables
  std::uint64_t walkers = 0;           ///< node2vec, the slowest; 0: one per vertex
  std::uint64_t tree_seeds = 0;        ///< neighbor with replacement; 0: one per vertex
  std::uint64_t seeds = 1u << 20;      ///< neighbor without replacement
  std::uint64_t ablation_seeds = 1u << 16;
};

constexpr Extent kHostExtent{.all = false,
                             .first_run = 1,
                             .walkers = 1u << 17,
                             .tree_seeds = 1u << 16,
                             .seeds = 1u << 14,
                             .ablation_seeds = 1u << 12};

/// Each method measures one group of workloads and appends its figures.
class SamplingSuite : SuiteFigures {
 public:
  SamplingSuite(Device& device, const Options& options)
      : SuiteFigures(device, options),
        extent_(device.is_cuda() ? Extent() : kHostExtent),
        limits_(measure_limits(device, options.repetitions)),
        graph_(load_graph(device, options)),
        resident_(device, graph_) {}

  std::vector<Figure> run() {
    add_context();
    uniform_walks();
    weighted_walks();
    node2vec();
    neighbors();
    if (extent_.all) csaw();
    ablation();
    return std::move(figures_);
  }

 private:
  void add_context() {
    add_graph_size(graph_);
    add_value("largest degree", resident_.impl().max_degree);
    add_value("limit: copy, read + write", limits_.copy, "GB/s");
    add_value("limit: random 4-byte reads", limits_.random4, "G reads/s");
    add_value("limit: random 16-byte reads", limits_.random16, "G reads/s");
    add_value("limit: random 32-byte reads", limits_.random32, "G reads/s");
    if (limits_.to_device > 0) add_value("limit: host to device", limits_.to_device, "GB/s");
  }

  /// Measures value(run()): median, minimum and maximum of the repetitions, after a run that builds tables.
  template <class Run, class Value>
  Figure& measure(const std::string& name, const char* unit, Run&& run, Value&& value) {
    if (options_.progress) options_.progress(name);
    const RunStats first = run(extent_.first_run);
    std::vector<double> values;
    for (unsigned r = 0; r < options_.repetitions; ++r) values.push_back(value(run(kAllInstances)));
    Figure& figure = add_figure(name, values, unit);
    if (first.table_seconds > 0.0005) figure.note = "tables " + text("%.3g ms", first.table_seconds * 1e3);
    return figure;
  }

  static double giga_rate(const RunStats& stats) {
    return static_cast<double>(stats.sampled_edges) / stats.compute_seconds * 1e-9;
  }
  static void append_note(Figure& figure, const std::string& what) {
    figure.note += figure.note.empty() ? what : ", " + what;
  }
  static void add_limit_share(Figure& figure, double limit, const char* what) {
    set_share(figure, figure.value / limit, what);
  }

  Figure& walk(const std::string& name, walks::Options walk_options, const Starts& starts = {}) {
    walk_options.seed = options_.seed;
    return measure(
        name, "G steps/s",
        [&](Instance last) {
          walk_options.last_instance = last;
          return sampling::run_walks(resident_, starts, walk_options, nullptr);
        },
        giga_rate);
  }
  Figure& sample(const std::string& name, samples::Options sample_options, const Starts& starts) {
    sample_options.seed = options_.seed;
    return measure(
        name, "G edges/s",
        [&](Instance last) {
          sample_options.last_instance = last;
          return sampling::run_samples(resident_, starts, sample_options, nullptr);
        },
        giga_rate);
  }
  /// `count` random starts; 0: one per vertex.
  static Starts starts_of(std::uint64_t count) { return count == 0 ? Starts() : random_starts(count); }
  static std::string count_text(std::uint64_t power_of_two) {
    return "2^" + std::to_string(std::bit_width(power_of_two) - 1);
  }

  void uniform_walks() {
    walks::Options o;
    o.layout = Layout::csr;
    add_limit_share(walk("uniform walk, csr", o), limits_.random4, "random 4-byte reads");
    o.layout = Layout::wide;
    const double uniform = add_uniform_share(walk("uniform walk, wide", o));
    if (extent_.all) redirected_walks(o, uniform);
    resident_.drop_tables();
  }
  void redirected_walks(walks::Options o, double uniform) {
    for (const auto& [name, kind] : {std::pair{"metropolis-hastings", walks::Kind::metropolis_hastings},
                                     {"restart", walks::Kind::restart},
                                     {"jump", walks::Kind::jump}}) {
      o.kind = kind;
      Figure& figure = walk(std::string(name) + ", wide", o);
      append_note(figure, text("%.0f%% of uniform", 100 * figure.value / uniform));
    }
  }
  double add_uniform_share(Figure& figure) const {
    add_limit_share(figure, limits_.random16, "random 16-byte reads");
    return figure.value;
  }

  void weighted_walks() {
    walks::Options o;
    o.kind = walks::Kind::biased;
    o.layout = Layout::wide, o.select = Select::alias;
    add_limit_share(walk("biased by weight, alias, wide", o), limits_.random32, "random 32-byte reads");
    resident_.drop_tables();
    if (!extent_.all) return;
    o.layout = Layout::csr;
    walk("biased by weight, alias, csr", o);
    resident_.drop_tables();
    o.select = Select::its;
    walk("biased by weight, inverse transform, csr", o);
    resident_.drop_tables();
    o.select = Select::rejection;
    walk("biased by weight, rejection, csr", o);
    resident_.drop_tables();
  }

  void node2vec() {
    walks::Options o;
    o.kind = walks::Kind::node2vec, o.p = 2, o.q = 0.5;
    const std::string walkers = extent_.walkers == 0 ? "" : ", " + count_text(extent_.walkers) + " walkers";
    walk("node2vec 2, 0.5, weighted, exact" + walkers, o, starts_of(extent_.walkers));
    resident_.drop_tables();
    o.layout = Layout::csr;
    walk("node2vec 2, 0.5, weighted, csr" + walkers, o, starts_of(extent_.walkers));
    resident_.drop_tables();
  }

  void neighbors() {
    samples::Options o;
    o.fanout = {15, 10};
    o.replace = o.revisit = true;
    const std::string tree_seeds =
        extent_.tree_seeds == 0 ? "one seed a vertex" : count_text(extent_.tree_seeds) + " seeds";
    add_limit_share(
        sample("neighbor 15,10, replace, revisit, " + tree_seeds, o, starts_of(extent_.tree_seeds)),
        limits_.random4, "random 4-byte reads");
    o.replace = o.revisit = false;
    const Starts seeds = random_starts(std::min<std::uint64_t>(graph_.vertices(), extent_.seeds));
    sample("neighbor 15,10, distinct, visited rule, " + count_text(extent_.seeds) + " seeds", o, seeds);
    o.bias = Bias::weight;
    sample("the same by weight", o, seeds);
    resident_.drop_tables();
  }

  /// C-SAW's settings (SC'20, section VI): 2000 and 4000 instances, 2 neighbours, depth 2, degree bias; its
  /// figure 16.
  void csaw() {
    samples::Options o;
    o.bias = Bias::degree;
    const auto milliseconds = [](const RunStats& stats) { return stats.compute_seconds * 1e3; };
    const auto time = [&](const std::string& name, std::uint64_t instances) {
      measure(
          name, "ms",
          [&](Instance) { return sampling::run_samples(resident_, random_starts(instances), o, nullptr); },
          milliseconds);
    };
    o.fanout = {2, 2};
    for (const std::uint64_t instances : {2000, 4000}) {
      time("C-SAW: " + std::to_string(instances) + " instances, 2 neighbours, depth 2", instances);
    }
    for (const std::uint64_t instances : {2000, 4000, 8000, 16000}) {
      for (const std::int64_t size : {1, 2, 4, 8}) {
        o.fanout = {size, size};
        time("C-SAW: " + std::to_string(instances) + " instances, NeighborSize " + std::to_string(size),
             instances);
      }
    }
    walks::Options w;
    w.kind = walks::Kind::biased, w.bias = Bias::degree, w.length = 2000;
    walk("C-SAW: 4000 walks of 2000 steps, degree bias", w, random_starts(4000));
    resident_.drop_tables();
  }

  /// C-SAW's figures 10 to 12: iterations and searches per pick for each technique.
  void ablation() {
    samples::Options o;
    o.fanout = {8, 8}, o.bias = Bias::degree;
    const Starts seeds = random_starts(std::min<std::uint64_t>(graph_.vertices(), extent_.ablation_seeds));
    for (const auto& [technique, select] : {std::pair{"repeated", Select::repeated},
                                            {"updated", Select::updated},
                                            {"bipartite", Select::bipartite}}) {
      for (const auto& [structure, collision] : {std::pair{"linear", Collision::linear},
                                                 {"bitmap", Collision::bitmap},
                                                 {"strided-bitmap", Collision::strided_bitmap},
                                                 {"strided bytes", Collision::strided_bytes}}) {
        o.select = select, o.collision = collision;
        RunStats last;
        Figure& figure = measure(
            std::string("select ") + technique + ", collision " + structure, "G edges/s",
            [&](Instance end) {
              o.last_instance = end;
              return last = sampling::run_samples(resident_, seeds, o, nullptr);
            },
            giga_rate);
        const double picks = static_cast<double>(std::max<std::uint64_t>(last.selections, 1));
        append_note(figure,
                    text("%.3f iterations a pick, ", static_cast<double>(last.selection_iterations) / picks) +
                        text("%.2f searches a pick", static_cast<double>(last.collision_searches) / picks));
      }
    }
  }

  Extent extent_;
  Limits limits_;
  Graph graph_;
  ResidentGraph resident_;
};

}  // namespace

std::vector<Figure> run_sampling(Device& device, const Options& options) {
  return SamplingSuite(device, options).run();
}

}  // namespace sluice::bench

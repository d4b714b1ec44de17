#include "apps/bench/scaling/loads.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "apps/bench/workload.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/clock.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

using apps::world;

constexpr const char* kLabel = "loads";
constexpr std::uint64_t kMaxSeeds = 1u << 20;

/// Seconds of a rank, without the time to open the file.
struct Load {
  double load = 0, table = 0;
};

class Loads {
 public:
  Loads(Device& device, const Options& options, GraphFile& file, std::vector<Figure>& figures)
      : device_(device), options_(options), file_(file), figures_(figures) {}

  void run() {
    walks::Options uniform, weighted, node2vec;
    weighted.kind = walks::Kind::biased;
    node2vec.kind = walks::Kind::node2vec, node2vec.p = 2, node2vec.q = 0.5;
    samples::Options neighbor;
    neighbor.fanout = {15, 10};
    const auto walk = [&](const char* family, const walks::Options& kind, bool weights) {
      sampled(family, weights,
              [&](ResidentGraph& graph) { return sampling::run_walks(graph, {}, kind, nullptr); });
    };
    walk("uniform", uniform, false);
    walk("by weight", weighted, true);
    walk("node2vec", node2vec, true);
    sampled("neighbor 15,10", false, [&](ResidentGraph& graph) {
      const std::uint64_t seeds = std::min(graph.graph().vertices(), kMaxSeeds);
      return sampling::run_samples(graph, random_starts(seeds), neighbor, nullptr);
    });
    measure("pagerank", false, [&](const Graph& graph) {
      pagerank::Options one;
      one.tolerance = 0, one.max_iterations = 1;
      return Load{pagerank::run_pagerank(device_, graph, one, {}, {.ranks = &world()}).setup_seconds, 0};
    });
    program("bfs", {.in_edges = true}, [](const acc::AccGraph& graph) { return bfs(graph, 0).stats; });
    program("sssp", {.weights = true}, [](const acc::AccGraph& graph) { return sssp(graph, 0).stats; });
    program("wcc", {}, [](const acc::AccGraph& graph) { return components(graph).stats; });
    program("kcore", {.simple = true}, [](const acc::AccGraph& graph) { return core_numbers(graph).stats; });
  }

 private:
  template <class Run>
  void sampled(const char* family, bool weights, const Run& run) {
    measure(family, weights, [&](const Graph& graph) {
      ResidentGraph shared(device_, graph, {.shard = &world()});
      const RunStats stats = run(shared);
      return Load{stats.load_seconds, stats.table_seconds};
    });
  }

  template <class Run>
  void program(const char* family, const acc::AccNeeds& needs, const Run& run) {
    measure(family, needs.weights, [&](const Graph& graph) {
      const acc::AccPlace place{.paging = {.shard = &world()}, .ranks = &world()};
      return Load{run(acc::AccGraph(device_, graph, needs, place)).setup_seconds, 0};
    });
  }

  void measure(const std::string& family, bool weights, const std::function<Load(const Graph&)>& load) {
    const std::string name = "load, " + family;
    if (!options_.wants(name)) return;
    if (options_.progress) options_.progress(name);
    const std::string& path = file_.path();
    std::vector<double> loads, tables;
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      world().barrier(kLabel);
      const double begin = seconds_now();
      const Graph graph = open_shared(path, weights);
      const double opened = seconds_now() - begin;
      const Load loaded = load(graph);
      loads.push_back(opened + loaded.load), tables.push_back(loaded.table);
    }
    world().all_reduce(loads, Reduce::max, kLabel);
    world().all_reduce(tables, Reduce::max, kLabel);
    figures_.push_back(figure_of(name, loads, "s", {}, {{"table s", median(tables)}}));
  }

  Device& device_;
  const Options& options_;
  GraphFile& file_;
  std::vector<Figure>& figures_;
};

}  // namespace

const std::string& GraphFile::path() {
  if (!path_.empty()) return path_;
  path_ = options_.graph;
  if (path_.empty() && world().is_root()) {
    path_ = options_.folder + "/sluice-bench-" + std::to_string(::getpid()) + ".h5";
    io::write_graph(path_, graph_, false);
    written_ = true;
  }
  path_ = broadcast_text(world(), path_, 0, kLabel);
  return path_;
}

GraphFile::~GraphFile() {
  std::error_code left;
  if (written_) std::filesystem::remove(path_, left);
}

Graph open_shared(const std::string& path, bool weights) {
  return io::open_graph(path, {.weights = weights, .times = false});
}

void measure_loads(Device& device, const Options& options, GraphFile& file, std::vector<Figure>& figures) {
  Loads(device, options, file, figures).run();
}

}  // namespace sluice::bench

// Jobs of every kind with every technique, layout and option that must not change a result, for any device. A
// digest of their output allows comparisons on graphs of any size.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/generated_graph.hpp"
#include "engine/exec/device.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::test {

/// Hash of all datasets in order, independent of their division into batches.
class Digest {
 public:
  template <class T>
  void add(std::span<const T> values) {
    for (const T value : values) {
      hash_ = (hash_ ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ull;
      hash_ ^= hash_ >> 29;
    }
    count_ += values.size();
  }
  bool operator==(const Digest&) const = default;
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t hash_ = 1, count_ = 0;
};

struct WalkDigest : WalkSink {
  Digest walks, edges, pool;
  void write(const WalkBatch& batch) override {
    walks.add(batch.walks), edges.add(batch.edges), pool.add(batch.pool);
  }
  bool operator==(const WalkDigest& o) const {
    return walks == o.walks && edges == o.edges && pool == o.pool;
  }
  std::uint64_t count() const { return walks.count() + edges.count(); }
};

struct SampleDigest : SampleSink {
  Digest edge_counts, source, target, depth, edge, seed_counts, seeds, vertex_counts, vertices;
  void write(const SampleBatch& b) override {
    edge_counts.add(b.edge_counts), source.add(b.source), target.add(b.target), depth.add(b.depth),
        edge.add(b.edge);
    seed_counts.add(b.seed_counts), seeds.add(b.seeds), vertex_counts.add(b.vertex_counts),
        vertices.add(b.vertices);
  }
  bool operator==(const SampleDigest& o) const {
    return edge_counts == o.edge_counts && source == o.source && target == o.target && depth == o.depth &&
           edge == o.edge && seed_counts == o.seed_counts && seeds == o.seeds &&
           vertex_counts == o.vertex_counts && vertices == o.vertices;
  }
  std::uint64_t count() const { return edge.count() + edge_counts.count(); }
};

/// The result of a walk or a sample.
struct Outcome {
  WalkDigest walks;
  SampleDigest samples;
  bool operator==(const Outcome& o) const { return walks == o.walks && samples == o.samples; }
  std::uint64_t count() const { return walks.count() + samples.count(); }
};

struct Job {
  std::string name;
  std::function<Outcome(ResidentGraph&)> run;
};

inline Starts random_starts(std::uint64_t count) {
  Starts starts;
  starts.mode = Starts::Mode::random;
  starts.count = count;
  return starts;
}

/// Instances with one to five seeds, some of them repeated.
inline Starts seed_lists(std::uint64_t instances, std::uint64_t vertices) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.offsets = {0};
  for (std::uint64_t i = 0; i < instances; ++i) {
    for (std::uint64_t j = 0; j <= i % 5; ++j) {
      starts.vertices.push_back(static_cast<Vertex>((i * 7919 + (j == 3 ? 0 : j) * 104729) % vertices));
    }
    starts.offsets.push_back(starts.vertices.size());
  }
  return starts;
}

inline Job walk_job(std::string name, Starts starts, walks::Options options) {
  return {std::move(name), [=](ResidentGraph& graph) {
            Outcome outcome;
            sampling::run_walks(graph, starts, options, &outcome.walks);
            return outcome;
          }};
}

/// The type of a function that runs samples.
using RunSamples = decltype(sampling::run_samples);

inline Job sample_job(std::string name, Starts starts, samples::Options options,
                      RunSamples* run = sampling::run_samples) {
  return {std::move(name), [=](ResidentGraph& graph) {
            Outcome outcome;
            run(graph, starts, options, &outcome.samples);
            return outcome;
          }};
}

inline std::vector<Job> walk_jobs(std::uint64_t instances) {
  using enum Select;
  std::vector<Job> jobs;
  const auto add = [&](std::string name, walks::Kind kind, Select select, auto&& tune) {
    for (const Layout layout : {Layout::csr, Layout::wide}) {
      walks::Options options;
      options.kind = kind, options.select = select, options.layout = layout, options.length = 20,
      options.seed = 7;
      tune(options);
      jobs.push_back(walk_job(name + "/select" + std::to_string(static_cast<int>(select)) +
                                  (layout == Layout::csr ? "/csr" : "/wide"),
                              random_starts(instances), options));
    }
  };
  const auto plain = [](walks::Options&) {};
  for (const Select select : {automatic, its, alias, rejection}) {
    add("uniform", walks::Kind::uniform, select, plain);
    add("biased_weight", walks::Kind::biased, select, plain);
    add("biased_degree", walks::Kind::biased, select, [](walks::Options& o) { o.bias = Bias::degree; });
    add("metropolis_hastings", walks::Kind::metropolis_hastings, select, plain);
    add("jump", walks::Kind::jump, select, plain);
    add("restart", walks::Kind::restart, select, plain);
  }
  for (const Select select : {automatic, its}) {
    add("node2vec_2_half", walks::Kind::node2vec, select,
        [](walks::Options& o) { o.p = 2, o.q = 0.5, o.length = 8; });
  }
  // Most proposals are rejected, so inverse transform sampling decides the last trial.
  add("node2vec_thousandth", walks::Kind::node2vec, automatic,
      [](walks::Options& o) { o.p = 0.001, o.q = 4, o.length = 8; });
  walks::Options pool;
  pool.kind = walks::Kind::multidimensional, pool.frontier_size = 50, pool.length = 40;
  jobs.push_back(walk_job("multidimensional", random_starts(std::min<std::uint64_t>(instances, 300)), pool));
  return jobs;
}

/// Walks whose lists may be coded in partitions: a pair of jobs, one for each layout.
inline std::vector<std::pair<Job, Job>> coded_walk_jobs(std::uint64_t instances) {
  std::vector<std::pair<Job, Job>> jobs;
  const auto add = [&](const char* name, walks::Kind kind, const auto& tune) {
    walks::Options options;
    options.kind = kind, options.length = 20, options.seed = 7, options.layout = Layout::csr;
    tune(options);
    const Job plain = walk_job(name, random_starts(instances), options);
    options.layout = Layout::coded;
    jobs.emplace_back(plain, walk_job(name, random_starts(instances), options));
  };
  const auto plain = [](walks::Options&) {};
  add("uniform", walks::Kind::uniform, plain);
  add("metropolis_hastings", walks::Kind::metropolis_hastings, plain);
  add("jump", walks::Kind::jump, plain);
  add("restart", walks::Kind::restart, plain);
  add("biased_weight", walks::Kind::biased, plain);
  add("biased_degree", walks::Kind::biased, [](walks::Options& o) { o.bias = Bias::degree; });
  add("node2vec", walks::Kind::node2vec, [](walks::Options& o) { o.p = 2, o.q = 0.5, o.length = 8; });
  // Most proposals are rejected, so lists are scanned.
  add("node2vec_thousandth", walks::Kind::node2vec,
      [](walks::Options& o) { o.p = 0.001, o.q = 4, o.length = 8; });
  return jobs;
}

inline std::vector<Job> sample_jobs(std::uint64_t instances, std::uint64_t vertices,
                                    RunSamples* run = sampling::run_samples) {
  using enum Select;
  std::vector<Job> jobs;
  const auto one_in = [&](std::uint64_t many) { return std::max<std::uint64_t>(instances / many, 1); };
  const auto add = [&](std::string name, std::uint64_t count, samples::Kind kind, Select select,
                       auto&& tune) {
    samples::Options options;
    options.kind = kind, options.select = select, options.seed = 7;
    tune(options);
    jobs.push_back(sample_job(name + "/select" + std::to_string(static_cast<int>(select)),
                              seed_lists(count, vertices), options, run));
  };
  for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) {
    const std::string suffix = "/bias" + std::to_string(static_cast<int>(bias));
    for (const Select select : {automatic, repeated, updated, bipartite}) {
      for (const Collision collision :
           {Collision::linear, Collision::bitmap, Collision::strided_bitmap, Collision::strided_bytes}) {
        const std::string with = suffix + "/collision" + std::to_string(static_cast<int>(collision));
        add("neighbor" + with, instances, samples::Kind::neighbor, select, [&](samples::Options& o) {
          o.fanout = {15, 3}, o.bias = bias, o.collision = collision;
        });
        add("neighbor_large" + with, one_in(20), samples::Kind::neighbor, select, [&](samples::Options& o) {
          o.fanout = {300, 2}, o.bias = bias, o.collision = collision;
        });
        if (select != repeated) continue;  // `repeated` clashes most often
        add("forest_fire" + with, instances, samples::Kind::forest_fire, select, [&](samples::Options& o) {
          o.depth = 3, o.bias = bias, o.probability = 0.6, o.collision = collision;
        });
        add("layer" + with, one_in(4), samples::Kind::layer, select, [&](samples::Options& o) {
          o.layer_sizes = {8, 40, 3}, o.bias = bias, o.collision = collision;
        });
      }
      add("neighbor_revisit" + suffix, instances, samples::Kind::neighbor, select, [&](samples::Options& o) {
        o.fanout = {5, 4}, o.bias = bias, o.revisit = true;
      });
      add("forest_fire" + suffix, instances, samples::Kind::forest_fire, select,
          [&](samples::Options& o) { o.depth = 3, o.bias = bias, o.probability = 0.6; });
    }
    for (const Select select : {automatic, its, alias, rejection}) {
      add("neighbor_replace" + suffix, instances, samples::Kind::neighbor, select, [&](samples::Options& o) {
        o.fanout = {15, 10}, o.bias = bias, o.replace = true, o.revisit = true;
      });
      add("neighbor_replace_visited" + suffix, instances, samples::Kind::neighbor, select,
          [&](samples::Options& o) {
            o.fanout = {40, 3}, o.bias = bias, o.replace = true;
          });
    }
    add("neighbor_all" + suffix, one_in(20), samples::Kind::neighbor, automatic, [&](samples::Options& o) {
      o.fanout = {4, -1}, o.bias = bias;
    });
    for (const Select select : {automatic, repeated, updated}) {
      add("layer" + suffix, one_in(4), samples::Kind::layer, select, [&](samples::Options& o) {
        o.layer_sizes = {8, 40, 3}, o.bias = bias;
      });
      add("layer_revisit" + suffix, one_in(4), samples::Kind::layer, select, [&](samples::Options& o) {
        o.layer_sizes = {40, 60, 9}, o.bias = bias, o.revisit = true;
      });
    }
  }
  add("snowball", one_in(50), samples::Kind::snowball, automatic, [](samples::Options& o) { o.depth = 2; });
  add("snowball_revisit", one_in(50), samples::Kind::snowball, automatic,
      [](samples::Options& o) { o.depth = 2, o.revisit = true; });
  add("node", 20, samples::Kind::node, automatic, [](samples::Options& o) { o.count = 200; });
  add("edge", 20, samples::Kind::edge, automatic, [](samples::Options& o) { o.count = 500; });
  return jobs;
}

/// Samples whose lists may be coded in partitions: a pair of jobs, one for each layout.
inline std::vector<std::pair<Job, Job>> coded_sample_jobs(std::uint64_t instances, std::uint64_t vertices,
                                                          RunSamples* run = sampling::run_samples) {
  std::vector<std::pair<Job, Job>> jobs;
  const auto add = [&](const std::string& name, std::uint64_t count, const auto& tune) {
    samples::Options options;
    options.seed = 7, options.layout = Layout::csr;
    tune(options);
    const Job plain = sample_job(name, seed_lists(count, vertices), options, run);
    options.layout = Layout::coded;
    jobs.emplace_back(plain, sample_job(name, seed_lists(count, vertices), options, run));
  };
  const std::uint64_t few = std::max<std::uint64_t>(instances / 20, 1);
  for (const Select select : {Select::repeated, Select::updated, Select::bipartite}) {
    const std::string suffix = "/select" + std::to_string(static_cast<int>(select));
    add("neighbor" + suffix, instances, [&](samples::Options& o) { o.fanout = {15, 3}, o.select = select; });
    add("neighbor_large" + suffix, few, [&](samples::Options& o) { o.fanout = {300, 2}, o.select = select; });
    add("forest_fire" + suffix, instances, [&](samples::Options& o) {
      o.kind = samples::Kind::forest_fire, o.depth = 3, o.probability = 0.6, o.select = select;
    });
  }
  add("neighbor_replace", instances, [](samples::Options& o) {
    o.fanout = {15, 10}, o.replace = true, o.revisit = true;
  });
  add("neighbor_replace_large", few, [](samples::Options& o) { o.fanout = {40, 3}, o.replace = true; });
  add("neighbor_all", few, [](samples::Options& o) { o.fanout = {4, -1}; });
  add("snowball", few, [](samples::Options& o) { o.kind = samples::Kind::snowball, o.depth = 2; });
  return jobs;
}

/// Instances that are too large for one warp of a GPU: large layers, counts and pools.
inline std::vector<Job> large_jobs(std::uint64_t vertices) {
  using enum Select;
  std::vector<Job> jobs;
  samples::Options layer;
  layer.kind = samples::Kind::layer, layer.layer_sizes = {4200, 5000}, layer.seed = 7;
  for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) {
    for (const Select select : {automatic, repeated}) {
      layer.bias = bias, layer.select = select, layer.revisit = select == repeated;
      jobs.push_back(sample_job("large_layer/bias" + std::to_string(static_cast<int>(bias)) + "/select" +
                                    std::to_string(static_cast<int>(select)),
                                seed_lists(5, vertices), layer));
    }
  }
  samples::Options one_pass;
  one_pass.seed = 7, one_pass.count = vertices / 2;
  for (const samples::Kind kind : {samples::Kind::node, samples::Kind::edge}) {
    one_pass.kind = kind;
    jobs.push_back(
        sample_job(kind == samples::Kind::node ? "many_nodes" : "many_edges", random_starts(3), one_pass));
  }
  walks::Options pool;
  pool.kind = walks::Kind::multidimensional, pool.frontier_size = 5000, pool.length = 100, pool.seed = 7;
  jobs.push_back(walk_job("large_pool", random_starts(4), pool));
  return jobs;
}

/// An R-MAT graph with uniform weights; `undirected`: also without isolated vertices.
inline Graph rmat(unsigned scale, bool undirected, unsigned edge_factor = 8) {
  io::GenerateOptions options;
  options.kind = io::GraphKind::rmat, options.scale = scale, options.edge_factor = edge_factor,
  options.threads = 2;
  io::ConvertOptions rules;
  rules.undirected = undirected, rules.weights = io::WeightRule::uniform, rules.compact = undirected,
  rules.threads = 2;
  return bench::generate_graph(options, rules);
}

/// A uniform graph of exactly `vertices` vertices, with dead ends, lists shorter than a fan-out, and zero
/// weights.
inline Graph scattered(std::uint64_t vertices) {
  Graph graph;
  std::vector<std::vector<Vertex>> lists(vertices);
  std::uint64_t state = vertices;
  const auto next = [&] {
    return state = state * 6364136223846793005ull + 1442695040888963407ull, state >> 33;
  };
  std::uint64_t edges = 0;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    const std::uint64_t degree = v % 7 == 0 ? 0 : v % 101 == 1 ? vertices / 3 : next() % 30;
    for (std::uint64_t i = 0; i < degree; ++i) lists[v].push_back(static_cast<Vertex>(next() % vertices));
    std::sort(lists[v].begin(), lists[v].end());
    edges += degree;
  }
  graph.out.offsets = HostArray<EdgeIndex>(vertices + 1);
  graph.out.targets = HostArray<Vertex>(edges);
  graph.out.weights = HostArray<float>(edges);
  graph.weighted = true;
  EdgeIndex at = 0;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    graph.out.offsets[v] = at;
    for (const Vertex target : lists[v]) {
      const std::uint64_t draw = next();
      graph.out.targets[at] = target;
      graph.out.weights[at++] = v % 13 == 2 || draw % 9 == 0
                                    ? 0.0f
                                    : static_cast<float>(draw % 1000 + 1) * (draw % 5 ? 1e-3f : 1e3f);
    }
  }
  graph.out.offsets[vertices] = at;
  return graph;
}

}  // namespace sluice::test

// Runs random walks on a graph file and computes its PageRank: walk_and_rank GRAPH.h5
#include <algorithm>
#include <cstdio>

#include "engine/pagerank/static/pagerank.hpp"
#include "engine/sampling/run.hpp"
#include "io/graph_file/graph_file.hpp"

/// Prints one walk per line.
struct Print : sluice::WalkSink {
  void write(const sluice::WalkBatch& batch) override {
    const std::size_t row = batch.length + 1;
    for (std::size_t i = 0; i < batch.walks.size(); ++i)
      std::printf("%u%c", batch.walks[i], i % row + 1 < row ? ' ' : '\n');
  }
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const sluice::Graph graph = sluice::io::read_graph(argv[1]);
  sluice::Device device;  // a GPU if there is one, else the host

  sluice::ResidentGraph resident(device, graph);
  sluice::walks::Options options;
  options.length = 5;
  Print print;
  sluice::sampling::run_walks(resident, {}, options, &print);  // one walk from every vertex

  const auto ranks = sluice::pagerank::run_pagerank(device, graph, {}).ranks;
  const auto best = std::max_element(ranks.begin(), ranks.end());
  std::printf("vertex %td has the highest rank, %.6f\n", best - ranks.begin(), *best);
}

// sluice-bench batch: writes a random batch of changes as edge lists, which `sluice pagerank` and the
// programs of others can read.
#include <fmt/core.h>

#include <fstream>
#include <random>

#include "apps/bench/bench.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/output_file.hpp"

namespace sluice::bench {

namespace {

using apps::Command;

struct BatchCommand {
  std::string graph, insert, remove;
  double fraction = 1e-4;
  apps::CommonOptions common;
};

/// Writes one edge per line: its ends and, if `weighted`, its weight.
void write_edges(io::OutputFile& file, const EdgeColumns& edges, bool weighted) {
  std::ofstream stream(file.temporary());
  for (std::size_t i = 0; i < edges.source.size(); ++i) {
    stream << edges.source[i] << ' ' << edges.target[i];
    if (weighted) stream << ' ' << edges.weight[i];
    stream << '\n';
  }
  stream.close();
  if (!stream) throw RunError(fmt::format("{}: cannot be written", file.path()));
  file.finish();
}

void run_batch(const Command&, const BatchCommand& c) {
  if (!(c.fraction > 0 && c.fraction <= 1)) throw UsageError("--fraction: must be above 0 and at most 1");
  if (c.insert.empty() || c.remove.empty())
    throw UsageError("--insert FILE and --delete FILE are required (the files to write)");
  apps::apply_host_ceiling(c.common);
  io::OutputFile insert(c.insert, c.common.force), remove(c.remove, c.common.force);
  const Graph graph = io::read_graph(c.graph, {.weights = false, .times = false});
  if (graph.edges() == 0) throw InputError(c.graph + ": the graph has no edge to delete");
  std::mt19937_64 random(c.common.seed);
  const UpdateBatch batch = random_batch(graph, c.fraction, random);
  write_edges(insert, batch.insertions, io::read_graph_info(c.graph).weighted);
  write_edges(remove, batch.deletions, false);
  insert.commit(), remove.commit();
  apps::print_message(fmt::format("batch: {} edges to insert, {} to delete\n",
                                  apps::format_count(batch.insertions.source.size()),
                                  apps::format_count(batch.deletions.source.size())));
}

}  // namespace

std::unique_ptr<Command> make_batch() {
  auto [command, c] = apps::make_command<BatchCommand>(
      "batch", "random edges to insert and to delete, for `sluice pagerank`", run_batch);
  command->group("Graph");
  command->input_file("GRAPH", c->graph, "a graph file");
  command->real("--fraction", "PART", c->fraction,
                "number of changes as a fraction of the edges; 80% are insertions, between any two vertices");
  apps::declare_seed(*command, c->common);
  command->group("Output");
  command->output_file("--insert", c->insert, "edges to insert, of weight 1 if the graph is weighted");
  command->output_file("--delete", c->remove, "edges to delete");
  command->flag("--force", c->common.force, "replace what exists");
  command->set_example("sluice-bench batch graph.h5 --fraction 1e-4 --insert new.txt --delete gone.txt");
  return std::move(command);
}

}  // namespace sluice::bench

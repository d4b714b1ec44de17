// sluice convert: converts edge lists and other formats to a graph file.
#include "apps/commands/commands.hpp"
#include "apps/job/build_graph.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct ConvertCommand {
  std::string input;
  io::ReadOptions read;
  io::ConvertOptions convert;
  bool compact = false, no_compact = false;
  CommonOptions common;
};

void run_convert(const Command& command, ConvertCommand& c) {
  if (c.compact && c.no_compact) throw UsageError("--compact and --no-compact contradict each other");
  apply_host_ceiling(c.common);
  io::require_conversion_memory();
  print_options(command, c.common);
  c.read.threads = threads_of(c.common);
  c.read.timestamps = c.convert.timestamps;
  if (c.convert.weights == io::WeightRule::column) c.read.weights = io::WeightColumn::column;
  if (c.compact) c.convert.compact = true;
  if (c.no_compact) c.convert.compact = false;
  const auto source = io::open_edge_file(c.input, c.read);
  build_graph(command, c.common, *source, c.common.output, c.convert);
}

}  // namespace

std::unique_ptr<Command> make_convert() {
  auto [command, c] = make_command<ConvertCommand>(
      "convert", "makes a graph file of an edge list, Matrix Market, METIS, DIMACS or binary file",
      run_convert);
  command->group("Files");
  command->input_file("IN", c->input, "the edges; .gz files are decompressed");
  command->output_file("OUT", c->common.output, "the graph file to write");
  command->choice("--format", c->read.format, kEdgeFormats, "format of IN; auto detects it");
  command->flag("--force", c->common.force, "replace what exists");
  declare_report(*command, c->common);
  command->group("Edges");
  command->flag("--undirected", c->convert.undirected, "store both directions of every edge");
  command->flag("--keep-self-loops", c->convert.keep_self_loops,
                "keep self-loops, which are dropped by default");
  command->flag("--keep-duplicates", c->convert.keep_duplicates,
                "keep duplicates; by default only the first of each is kept");
  command->choice("--weights", c->convert.weights, kWeightRules,
                  "column: the third column, or the Matrix Market value; uniform: random in (0,1]");
  declare_seed(*command, c->common);
  command->flag("--timestamps", c->convert.timestamps,
                "keep the third column (fourth, with --weights column) as time");
  command->flag("--reverse", c->convert.reverse, "also store in-edges");
  command->group("Vertices (default: compacted when more than half of the id range is unused)");
  command->flag("--compact", c->compact, "drop unused ids, and store the original ids in the file");
  command->flag("--no-compact", c->no_compact, "keep ids as they are");
  declare_host(*command, c->common);
  declare_messages(*command, c->common);
  command->set_example("sluice convert soc-Epinions1.txt.gz epinions.h5");
  return std::move(command);
}

}  // namespace sluice::apps

// sluice generate: synthetic graphs.
#include <fmt/core.h>

#include "apps/commands/commands.hpp"
#include "apps/job/build_graph.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct GenerateCommand {
  io::GenerateOptions generate;
  io::ConvertOptions convert;
  bool compact = false;
  std::uint32_t scale = 16, edge_factor = 16;
  CommonOptions common;
};

constexpr std::uint32_t kMaxScale = 31;  // the largest power of two that the engine's vertex ids can count
/// Below this number of edges, host threads finish before a GPU is ready.
constexpr std::uint64_t kMinGpuEdges = std::uint64_t{1} << 22;

DeviceOptions device_for(const GenerateCommand& c) {
  DeviceOptions device = device_of_rank(c.common);
  const std::uint64_t edges = (std::uint64_t{1} << c.scale) * c.edge_factor;
  if (device.choice == DeviceChoice::automatic && edges < kMinGpuEdges) device.choice = DeviceChoice::host;
  return device;
}

void run_generate(const Command& command, GenerateCommand& c) {
  const auto kind = c.generate.kind;
  if (c.common.output.empty()) throw UsageError("--output FILE is missing (name the graph file)");
  if (c.scale > kMaxScale)
    throw UsageError(fmt::format("--scale: {} is too large (at most {})", c.scale, kMaxScale));
  if ((kind == io::GraphKind::grid || kind == io::GraphKind::ring) && command.given("--edge-factor")) {
    throw UsageError(fmt::format("--edge-factor does not apply to {}", name_of(kGraphKinds, kind)));
  }
  apply_host_ceiling(c.common);
  io::require_conversion_memory();
  print_options(command, c.common);
  c.generate.scale = c.scale;
  c.generate.edge_factor = c.edge_factor;
  c.generate.seed = c.common.seed;
  c.generate.threads = threads_of(c.common);
  const Device device(device_for(c));
  c.generate.device = &device;
  c.convert.compact = c.compact;  // without --compact a generated graph keeps all 2^scale vertices
  const auto source = io::make_generator(c.generate);
  build_graph(command, c.common, *source, c.common.output, c.convert, &device);
}

}  // namespace

std::unique_ptr<Command> make_generate() {
  auto [command, c] =
      make_command<GenerateCommand>("generate", "a synthetic graph as a graph file", run_generate);
  command->group("Graph");
  command->choice("KIND", c->generate.kind, kGraphKinds,
                  "rmat, kronecker (Graph500), uniform (Erdos-Renyi), grid (road-like) or ring");
  command->integer("--scale", c->scale, 0, "2^N vertices");
  command->integer("--edge-factor", c->edge_factor, 1,
                   "edges drawn per vertex; duplicates and self-loops are dropped");
  declare_seed(*command, c->common);
  command->choice("--weights", c->convert.weights, kGeneratedWeights, "uniform: random weights in (0,1]");
  command->flag("--undirected", c->convert.undirected, "store both directions of every edge");
  command->flag("--compact", c->compact, "drop vertices without an edge");
  command->flag("--reverse", c->convert.reverse, "also store in-edges");
  command->group("Output");
  command->output_file("--output", c->common.output, "the graph file to write (required)");
  command->flag("--force", c->common.force, "replace what exists");
  declare_report(*command, c->common);
  declare_backend(*command, c->common);
  declare_messages(*command, c->common);
  command->set_example("sluice generate kronecker --scale 20 --undirected --output graph.h5");
  return std::move(command);
}

}  // namespace sluice::apps

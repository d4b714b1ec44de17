// sluice check: reads a whole graph file and verifies checksums and structure.
#include <fmt/core.h>

#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/commands.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::apps {

namespace {

struct CheckCommand {
  std::string file;
  CommonOptions common;
};

void run_check(const Command& command, const CheckCommand& c) {
  apply_host_ceiling(c.common);
  print_options(command, c.common);
  const io::GraphInfo info = io::check_graph(c.file).info;
  if (c.common.quiet) return;
  print(fmt::format("{}: sound ({} vertices, {} edges; checksums and structure verified)\n", c.file,
                    format_count(info.vertices), format_count(info.edges)));
}

}  // namespace

std::unique_ptr<Command> make_check() {
  auto [command, c] = make_command<CheckCommand>(
      "check", "reads a whole graph file; verifies checksums and structure", run_check);
  command->group("File");
  command->input_file("FILE", c->file, "a graph file");
  command->group("Machine");
  declare_host_memory(*command, c->common);
  command->group("Messages");
  command->flag("--quiet", c->common.quiet, "errors and warnings only");
  command->flag("--verbose", c->common.verbose, "also the resolved configuration");
  command->set_example("sluice check graph.h5");
  return std::move(command);
}

}  // namespace sluice::apps

#include "apps/cli/common_options.hpp"
#include "apps/commands/commands.hpp"

namespace sluice::apps {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto make : {make_generate, make_convert, make_info, make_check, make_walk, make_sample,
                          make_ppr, make_pagerank, make_bfs, make_sssp, make_kcore, make_wcc, make_bp})
    commands.push_back(make());
  for (const auto& command : commands) command->set_techniques(kTechniques);
  return commands;
}

}  // namespace sluice::apps

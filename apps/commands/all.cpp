#include "apps/commands/commands.hpp"

namespace sluice::apps {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_generate());
  commands.push_back(make_convert());
  commands.push_back(make_info());
  commands.push_back(make_check());
  commands.push_back(make_walk());
  commands.push_back(make_sample());
  commands.push_back(make_ppr());
  commands.push_back(make_pagerank());
  commands.push_back(make_bfs());
  commands.push_back(make_sssp());
  commands.push_back(make_kcore());
  commands.push_back(make_wcc());
  commands.push_back(make_bp());
  return commands;
}

}  // namespace sluice::apps

// The commands; the file with a command's name creates it.
#pragma once

#include <memory>
#include <vector>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

std::unique_ptr<Command> make_generate();
std::unique_ptr<Command> make_convert();
std::unique_ptr<Command> make_info();
std::unique_ptr<Command> make_check();
std::unique_ptr<Command> make_walk();
std::unique_ptr<Command> make_sample();
std::unique_ptr<Command> make_ppr();
std::unique_ptr<Command> make_pagerank();
std::unique_ptr<Command> make_bfs();
std::unique_ptr<Command> make_sssp();
std::unique_ptr<Command> make_kcore();
std::unique_ptr<Command> make_wcc();
std::unique_ptr<Command> make_bp();

/// All commands, in the order in which the program's help lists them.
std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace sluice::apps

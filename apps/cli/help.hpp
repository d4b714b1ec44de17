// Help and version texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

std::string program_help(const std::vector<std::unique_ptr<Command>>& commands);
std::string command_help(const Command& command);
/// The build, and the libraries in it.
std::string version_text();

}  // namespace sluice::apps

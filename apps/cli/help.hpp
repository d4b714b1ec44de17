// Help and version texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/cli/program.hpp"

namespace sluice::apps {

std::string program_help(const Program& program, const Commands& commands);
std::string command_help(const Command& command);
/// The build, and the libraries in it.
std::string version_text();

}  // namespace sluice::apps

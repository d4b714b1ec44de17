// A program with commands, on one rank or several: what `sluice` and `sluice-bench` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

using Commands = std::vector<std::unique_ptr<Command>>;

struct Program {
  std::string name, summary;
  std::vector<std::string> examples;  ///< command lines
  /// Throws UsageError for words that belong to another program; may be null.
  void (*check_words)(const std::vector<std::string>& words) = nullptr;
};

/// Finds the command, parses its options and runs it. Returns the exit status.
int run_program(const Program& program, Commands (*make_commands)(), int argc, char** argv);

std::string program_help(const Program& program, const Commands& commands);
/// The help of a command; with `techniques`, it includes options that only compare techniques.
std::string command_help(const Command& command, bool techniques);
/// Versions of the build and of its libraries.
std::string version_text();

}  // namespace sluice::apps

#include "apps/cli/program.hpp"

#include <fmt/core.h>

#include <csignal>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/files.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

/// Throws UsageError if `word` names no command.
Command& find_command(const Program& program, const Commands& commands, const std::string& word) {
  std::vector<std::string> names{"--help", "--version", "help"};
  for (const auto& command : commands) {
    if (command->name() == word) return *command;
    names.push_back(command->name());
  }
  throw UsageError(
      fmt::format("unknown command '{}'{} (see {} --help)", word, did_you_mean(word, names), program.name));
}

void run_command_line(const Program& program, const Commands& commands, std::vector<std::string> words) {
  if (words.empty()) {
    print(program_help(program, commands));
    throw UsageError("no command was given");
  }
  if (words[0] == "help" && words.size() > 1) words = {words[1], "--help"};
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h")
    return print(program_help(program, commands));
  if (words[0] == "--version") return print(version_text());
  if (program.check_words != nullptr) program.check_words(words);
  Command& command = find_command(program, commands, words[0]);
  words.erase(words.begin());
  const ParseResult parsed = parse_command_line(command, words);
  if (parsed != ParseResult::run) return print(command_help(command, parsed == ParseResult::help_all));
  if (world().size() > 1 && !command.allows_ranks())
    throw UsageError(fmt::format("{} runs in one process: start it without mpirun", command.name()));
  refuse_file_conflicts(command.files());
  install_stop_handlers();
  command.run(command);
}

}  // namespace

int run_program(const Program& program, Commands (*make_commands)(), int argc, char** argv) {
  reserve_standard_streams();
  set_program_name(program.name);
  std::signal(SIGXFSZ, SIG_IGN);  // a write above the file size limit then fails with a message
  return run_on_ranks([&] {
    const Commands commands = make_commands();
    for (const auto& command : commands) command->set_program(program.name);
    run_command_line(program, commands, {argv + 1, argv + argc});
  });
}

}  // namespace sluice::apps

// The program: finds the command, parses its options, runs it.
#include <fmt/core.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/help.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/files.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

Commands all_commands() {
  Commands commands;
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
#if defined(SLUICE_HAVE_BENCH)
  commands.push_back(make_bench());
#endif
  return commands;
}

/// Throws UsageError for a word that names none.
Command& find_command(const Commands& commands, const std::string& word) {
  std::vector<std::string> names{"--help", "--version", "help"};
  for (const auto& command : commands) {
    if (command->name() == word) return *command;
    names.push_back(command->name());
  }
  throw UsageError(
      fmt::format("unknown command '{}'{} (see sluice --help)", word, did_you_mean(word, names)));
}

void run_program(std::vector<std::string> words) {
  const auto commands = all_commands();
  if (words.empty()) {
    print(program_help(commands));
    throw UsageError("no command was given");
  }
  if (words[0] == "help" && words.size() > 1) words = {words[1], "--help"};
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") return print(program_help(commands));
  if (words[0] == "--version") return print(version_text());
  Command& command = find_command(commands, words[0]);
  words.erase(words.begin());
  if (parse_command_line(command, words) == ParseResult::help) return print(command_help(command));
  if (world().size() > 1 && !command.takes_ranks())
    throw UsageError(fmt::format("{} is the work of one process: start it without mpirun", command.name()));
  refuse_one_file_twice(command.files());
  watch_for_stop();
  command.run(command);
}

}  // namespace

}  // namespace sluice::apps

int main(int argc, char** argv) {
  sluice::apps::fill_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit on files fails, and has its line
  return sluice::apps::run_on_ranks([&] { sluice::apps::run_program({argv + 1, argv + argc}); });
}

// The program: finds the command, parses its options, runs it.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "apps/console.hpp"
#include "apps/errors.hpp"
#include "apps/help.hpp"
#include "apps/job_files.hpp"
#include "apps/ranks.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

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
#if defined(SLUICE_HAVE_BENCH)
  commands.push_back(make_bench());
#endif
  return commands;
}

void run_program(const std::vector<std::string>& words) {
  const auto commands = all_commands();
  if (words.empty()) throw UsageError("no command (see sluice --help)");
  if (words[0] == "--help" || words[0] == "-h") return print(program_help(commands));
  if (words[0] == "--version") return print(version_text());
  for (const auto& command : commands) {
    if (command->name() != words[0]) continue;
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (parse_command_line(*command, rest) == ParseResult::help) return print(command_help(*command));
    if (world().size() > 1 && !command->takes_ranks()) {
      throw UsageError(
          fmt::format("{} is the work of one process: start it without mpirun", command->name()));
    }
    refuse_one_file_twice(command->files());
    watch_for_stop();
    return command->run(*command);
  }
  throw UsageError("unknown command '" + words[0] + "' (see sluice --help)");
}

}  // namespace

}  // namespace sluice::apps

int main(int argc, char** argv) {
  return sluice::apps::run_on_ranks([&] { sluice::apps::run_program({argv + 1, argv + argc}); });
}

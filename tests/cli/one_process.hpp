// Runs many jobs in one process through the program's commands, since a launch takes longer than a small job.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "apps/cli/errors.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "cli/process.hpp"

namespace sluice::test {

inline void run_command(const std::vector<std::string>& words) {
  for (const auto& command : apps::all_commands()) {
    if (command->name() != words[0]) continue;
    apps::parse_command_line(*command, {words.begin() + 1, words.end()});
    command->run(*command);
  }
}

/// The status and the message of each job. Jobs run one after the other in a child of the test, which must
/// have a single thread.
inline std::vector<Finished> run_in_one_process(const TemporaryFolder& folder,
                                                const std::vector<std::vector<std::string>>& jobs) {
  const std::string endings = folder / "endings";
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kSeconds = 240;  // ends a hang
    alarm(kSeconds);
    _exit(apps::run_on_ranks([&] {
      std::ofstream file(endings);
      for (const auto& words : jobs) {
        const apps::Outcome outcome = apps::outcome_of([&] { run_command(words); });
        file << static_cast<int>(outcome.status) << ' ' << outcome.message << std::endl;
      }
    }));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status << " of all jobs";
  std::vector<Finished> finished(jobs.size());
  std::ifstream file(endings);
  for (Finished& one : finished) {
    file >> one.status;
    std::getline(file, one.err);
  }
  return finished;
}

}  // namespace sluice::test

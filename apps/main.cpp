// The product: a file a command, in commands/.
#include <fmt/core.h>

#include <array>
#include <string_view>

#include "apps/cli/program.hpp"
#include "apps/commands/commands.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

/// Suites, replays and ablations are measured by another program.
void refuse_bench_commands(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kOptions{"--replay", "--batching", "--balance", "--schedule"};
  const auto throw_for = [](std::string_view word) {
    throw UsageError(fmt::format("{} is part of another program (see sluice-bench --help)", word));
  };
  if (words[0] == "bench") throw_for(words[0]);
  for (const std::string& word : words) {
    for (const std::string_view option : kOptions) {
      if (word.substr(0, word.find('=')) == option) throw_for(option);
    }
  }
}

}  // namespace

}  // namespace sluice::apps

int main(int argc, char** argv) {
  using namespace sluice::apps;
  const Program program{"sluice",
                        "exact, reproducible graph sampling and random walks, on the host and on GPUs",
                        {"sluice generate kronecker --scale 18 --undirected --output graph.h5",
                         "sluice walk graph.h5 --kind uniform --length 40 --output walks.h5"},
                        refuse_bench_commands};
  return run_program(program, all_commands, argc, argv);
}

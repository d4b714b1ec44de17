// The benchmark program: standard workloads compared with the machine's limits, replays of temporal graphs,
// and the pages written from reports.
#include "apps/bench/bench.hpp"
#include "apps/bench/page/page.hpp"
#include "apps/bench/replay/command.hpp"
#include "apps/cli/program.hpp"

namespace sluice::bench {

namespace {

apps::Commands all_commands() {
  apps::Commands commands = make_suites();
  commands.push_back(bench::make_replay());
  commands.push_back(make_batch());
  commands.push_back(make_page());
  commands.push_back(make_ranks());
  return commands;
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
  const sluice::apps::Program program{
      "sluice-bench",
      "Sluice's performance, against the machine's limits and with techniques disabled",
      {"sluice-bench sampling --scale 22 --report sampling.json",
       "sluice-bench replay edges.txt --batches 100 --report replay.json"}};
  return sluice::apps::run_program(program, sluice::bench::all_commands, argc, argv);
}

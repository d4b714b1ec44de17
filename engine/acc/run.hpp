// Runs an Active-Compute-Combine program (program.hpp says what one is):
//
//   AccGraph graph(device, file, {.in_edges = true});
//   AccResult result = run_acc(graph, MyProgram{...});     // result.states[v]
//
// A file compiled as CUDA runs it on a GPU too.
#pragma once

#include <chrono>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/host_levels.hpp"
#include "engine/acc/host_merge.hpp"
#include "engine/acc/host_vote.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/core/host_array.hpp"

namespace sluice {

template <class State>
struct AccResult {
  HostArray<State> states;  ///< [vertices]
  AccStats stats;
};

namespace acc {

template <class Program>
auto make_host_driver(const AccGraph& graph, const Program& program, const AccOptions& options) {
  static_assert(VoteProgram<Program> || AggregationProgram<Program> || MergeProgram<Program>,
                "program.hpp lists what a program says");
  if constexpr (VoteProgram<Program>) {
    return HostVote<Program>(graph, program, options);
  } else if constexpr (AggregationProgram<Program>) {
    return HostLevels<Program>(graph, program);
  } else {
    return HostMerge<Program>(graph, program);
  }
}

}  // namespace acc

/// Throws UsageError for options that the device has no meaning for.
void validate(const Device& device, const AccOptions& options);

template <class Program>
AccResult<typename Program::State> run_acc(const AccGraph& graph, const Program& program,
                                           const AccOptions& options = {}) {
  validate(graph.device(), options);
  AccResult<typename Program::State> result;
  result.stats.setup_seconds = graph.setup_seconds();
  result.stats.host_to_device_bytes = graph.uploaded_bytes();
  if (graph.vertices() == 0) return result;
  const auto begin = std::chrono::steady_clock::now();
  auto driver = acc::make_host_driver(graph, program, options);
  driver.run(result.stats);
  result.stats.compute_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.states = HostArray<typename Program::State>(graph.vertices(), "results");
  copy_to_host(graph.device(), result.states.data(), driver.states(), result.states.bytes());
  return result;
}

}  // namespace sluice

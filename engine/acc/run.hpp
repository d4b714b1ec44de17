// Runs an Active-Compute-Combine program (program.hpp defines the interface):
//
//   AccGraph graph(device, file, {.in_edges = true});
//   AccResult result = run_acc(graph, MyProgram{...});     // result.states[v]
//
// To run on a GPU, compile the calling file as CUDA.
#pragma once

#include <memory>
#include <type_traits>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/rounds/levels.hpp"
#include "engine/acc/rounds/merge.hpp"
#include "engine/acc/rounds/vote.hpp"
#include "engine/core/build_namespace.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/traverse/host_traverser.hpp"
#if defined(__CUDACC__)
#include "engine/acc/resident_cuda/cuda_vote.cuh"
#include "engine/acc/resident_cuda/levels.cuh"
#include "engine/acc/resident_cuda/peer_solver.hpp"
#include "engine/traverse/cuda_traverser.cuh"
#endif

namespace sluice::acc {

template <class State>
struct AccResult {
  HostArray<State> states;  ///< [vertices]
  AccStats stats;
};

/// Does a program define all that is needed to run on ranks or in partitions?
template <class Program>
inline constexpr bool kDistributable =
    !AggregationProgram<Program> || BoundProgram<Program> || SumProgram<Program>;

template <class Program, Traverser E, Residency R>
auto make_solver(const AccGraph& graph, const Program& program, const AccOptions& options) {
  static_assert(VoteProgram<Program> || AggregationProgram<Program> || MergeProgram<Program>,
                "program.hpp lists what a program must define");
  if constexpr (VoteProgram<Program>) {
    return std::make_unique<Vote<Program, E, R>>(graph, program, options);
  } else if constexpr (AggregationProgram<Program>) {
    return std::make_unique<Levels<Program, E, R>>(graph, program, options);
  } else {
    return std::make_unique<Merge<Program, E, R>>(graph, program);
  }
}

#if defined(__CUDACC__)
/// Solver that runs rounds in fused kernels. Merges have few rounds and do not use it.
template <class Program, class Part, bool pulling = false>
using FusedSolver =
    std::conditional_t<VoteProgram<Program>, CudaVote<Program, Part>, CudaLevels<Program, Part, pulling>>;

/// Makes the solver of a rank's part, whose kernels send active vertices to each other. Returns null, on all
/// ranks, if a GPU lacks its rank's lists or cannot access another GPU's memory. All ranks call it.
template <class Program>
auto make_peer_solver(const AccGraph& graph, const Program& program, const AccOptions& options) {
  using Solver = FusedSolver<Program, PeerPart<Program>>;
  if (!graph.device().is_planning() && graph.rank_part().link() == nullptr) return std::unique_ptr<Solver>();
  return make_on_peers(graph, "rounds", [&](const Device& device) {
    return std::make_unique<Solver>(device, graph, program, options);
  });
}

#endif

inline namespace SLUICE_BUILD_NAMESPACE {  // the template's code differs in files compiled as CUDA

template <class Program>
AccResult<typename Program::State> run_acc(const AccGraph& graph, const Program& program,
                                           const AccOptions& options = {}) {
  validate(graph, options);
  AccResult<typename Program::State> result;
  result.stats.setup_seconds = graph.setup_seconds();
  result.stats.host_to_device_bytes = graph.uploaded_bytes();
  if (graph.vertices() == 0) return result;
  // Allocated first: slots for partitions take a share of the remaining memory.
  result.states = HostArray<typename Program::State>(graph.vertices(), "results");
  const auto bytes_sent = [link = graph.rank_part().link()] {
    return link != nullptr ? link->bytes_sent() : 0;
  };
  const auto solve = [&](auto&& make) {
    const double begin = seconds_now();
    const std::uint64_t sent_before = bytes_sent();
    const auto solver = make();
    if (solver == nullptr) return false;
    if (graph.device().is_planning()) {
      if constexpr (requires { solver->plan(result.stats); }) solver->plan(result.stats);
      return true;
    }
    // The time that a rank waits for others' preparations does not count as compute time.
    graph.rank_part().ranks().barrier("rounds");
    const double ready = seconds_now();
    result.stats.begin_rounds();
    solver->run(result.stats);
    const double done = seconds_now();
    solver->finish(result.stats);
    result.stats.exchanged_bytes += bytes_sent() - sent_before;
    copy_to_host(graph.device(), result.states.data(), solver->states(), result.states.bytes());
    result.stats.setup_seconds += ready - begin;
    result.stats.compute_seconds = done - ready;
    result.stats.transfer_seconds = seconds_now() - done;
    return true;
  };
  if constexpr (AggregationProgram<Program> && !PullableProgram<Program>) {
    if (options.direction == AccDirection::pull)
      throw UsageError(
          "--direction pull: the program does not define how values combine (program.hpp: add())");
  }
  [[maybe_unused]] const bool pulls = !MergeProgram<Program> && may_pull(graph, options);
#if defined(__CUDACC__)
  if (graph.device().is_cuda()) {
    if constexpr (!MergeProgram<Program>) {
      const auto solve_whole = [&]<bool kPulls>(std::bool_constant<kPulls>) {
        using Solver = FusedSolver<Program, WholePart<typename Program::State>, kPulls>;
        return solve([&] { return std::make_unique<Solver>(graph.device(), graph, program, options); });
      };
      if (graph.complete()) {
        pulls ? solve_whole(std::bool_constant<PullableProgram<Program>>()) : solve_whole(std::false_type());
        return result;
      }
    }
    // Levels over ranks whose kernels access each other's memory only push: pulls would need the bits of
    // remote active vertices, and for bounds one more exchange to count the remaining edges. On one GPU,
    // choosing a direction loses time (docs/papers.md).
    const bool must_pull = PullableProgram<Program> && options.direction == AccDirection::pull;
    if constexpr (kDistributable<Program> && !MergeProgram<Program>)
      if (!must_pull && solve([&] { return make_peer_solver(graph, program, options); })) return result;
    if constexpr (kDistributable<Program>) {
      solve([&] { return make_solver<Program, cuda::CudaTraverser, Partitioned>(graph, program, options); });
      return result;
    }
  }
#else
  if (graph.device().is_cuda())
    throw UsageError("this program was compiled for the host alone (compile it with nvcc, or use the host)");
#endif
  if (graph.complete()) {
    solve([&] { return make_solver<Program, HostTraverser, Whole>(graph, program, options); });
  } else if constexpr (kDistributable<Program>) {
    solve([&] { return make_solver<Program, HostTraverser, Partitioned>(graph, program, options); });
  } else {
    throw UsageError(
        "this program needs a whole graph in one process (program.hpp lists what others require)");
  }
  return result;
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::acc

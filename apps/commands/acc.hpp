// What the Active-Compute-Combine commands share: common options, vertices by the user's ids, and the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/job/job.hpp"
#include "apps/job/sinks.hpp"
#include "engine/acc/solve.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::apps {

struct AccCommand {
  acc::AccOptions acc;
  CommonOptions common;
};

/// Declares --direction for programs that work by levels; the default is push.
void declare_level_direction(Command& command, AccCommand& c);
/// Declares --fusion: which rounds share a kernel on a GPU.
void declare_fusion(Command& command, acc::AccFusion& fusion);
/// Declares --filter and --fusion, for programs with worklists.
void declare_worklists(Command& command, AccCommand& c);
/// Declares the seed and the options of every job.
void declare_acc(Command& command, AccCommand& c);

/// How the job accesses the graph: paging, ranks and folder for temporary files.
acc::AccPlace place_of(const AccCommand& c, const PagingOptions& paging);

/// Counts of vertices: those whose results this rank writes, and those of all ranks.
struct VertexCounts {
  std::uint64_t own = 0, all = 0;
};

/// Counts the vertices for which holds(v) is true. Several threads call holds.
template <class Holds>
VertexCounts count_vertices(const acc::AccGraph& graph, const Holds& holds) {
  const auto count = [&](std::uint64_t first, std::uint64_t last) {
    std::atomic<std::uint64_t> sum = 0;
    parallel_blocks(graph.device().threads(), last - first, 1u << 18,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      std::uint64_t some = 0;
                      for (std::uint64_t v = first + begin; v < first + end; ++v) some += holds(v) ? 1 : 0;
                      sum += some;
                    });
    return sum.load();
  };
  const std::uint64_t own = count(graph.first(), graph.last());
  return {own, count(0, graph.first()) + own + count(graph.last(), graph.vertices())};
}

/// The engine's id of a vertex that the user gave. Throws UsageError naming `option` if the graph has none.
Vertex vertex_of(const Job& job, std::int64_t id, const char* option);

/// The datasets of a result, with one row for each vertex of this rank. With --original-ids the ids come
/// first.
VertexColumns columns_of(const Job& job, const AccCommand& c, const acc::AccGraph& graph);

/// What a program needs of the graph, and the attributes and text columns of its result.
struct AccTask {
  acc::AccNeeds needs;
  acc::VertexSize vertex;
  std::vector<io::Attribute> attributes;
  std::vector<std::string> columns;
};

/// Plans solve(graph), which also checks its result. Without --plan it then runs it and writes the result:
/// add(graph, result, columns) adds the columns and returns the summary text.
template <class Solve, class Add>
void run_acc(Job& job, const AccCommand& c, const AccTask& task, const Solve& solve, const Add& add) {
  const acc::AccPlan plan = job.plan_and_load([&](const PagingOptions& paging) {
    return plan_solver(job.device(), job.graph(), task.needs, place_of(c, paging), task.vertex, solve);
  });
  if (c.common.plan) return job.print_plan(plan);

  job.open_results(task.attributes, nullptr, text_columns_of(c.common, task.columns));
  const acc::AccGraph graph(job.device(), job.graph(), task.needs, place_of(c, c.common.paging));
  const auto result = solve(graph);
  VertexColumns columns = columns_of(job, c, graph);
  std::string found = add(graph, result, columns);
  job.write(columns);
  job.finish(AccFigures{.stats = result.stats, .found = std::move(found)});
}

}  // namespace sluice::apps

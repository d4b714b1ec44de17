// What the Active-Compute-Combine commands share: their common options, and vertices as the user names them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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

/// Declares --direction of programs that work by levels; they push by default.
void declare_level_direction(Command& command, AccCommand& c);
/// Declares --fusion: which rounds share a kernel.
void declare_fusion(Command& command, acc::AccFusion& fusion);
/// And --filter: for programs that have worklists.
void declare_worklists(Command& command, AccCommand& c);
/// Declares the seed and what every job takes.
void declare_acc(Command& command, AccCommand& c);

/// Who works on the graph, and how edges reach them.
acc::AccPlace place_of(const AccCommand& c, const PagingOptions& paging);
inline acc::AccPlace place_of(const AccCommand& c) {
  return place_of(c, c.common.paging);
}

/// Vertices of this rank, whose results it writes, and of all.
struct VertexCounts {
  std::uint64_t own = 0, all = 0;
};

/// Those for which holds(v), which several threads call.
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

/// A vertex as the user names it. Throws UsageError naming `option` where the graph has none.
Vertex vertex_of(const Job& job, std::int64_t id, const char* option);

/// The datasets of a result, each with a row a vertex: of the graph's vertices this rank's are written. With
/// --original-ids they begin with the ids themselves.
VertexColumns columns_of(const Job& job, const AccCommand& c, const acc::AccGraph& graph);

/// What a program works on, and what its results are called.
struct AccTask {
  acc::AccNeeds needs;
  acc::VertexSize vertex;
  std::vector<io::Attribute> attributes;
  std::vector<std::string> columns;
};

/// Plans solve(graph), which also checks its result, and, unless a plan is all that is asked for, makes the
/// run and writes what it finds: add(graph, result, columns) adds its columns, and says in words what it is.
template <class Solve, class Add>
void run_acc(Job& job, const AccCommand& c, const AccTask& task, const Solve& solve, const Add& add) {
  const acc::AccPlan plan = job.fitting([&](const PagingOptions& paging) {
    return plan_solver(job.device(), job.graph(), task.needs, place_of(c, paging), task.vertex, solve);
  });
  if (c.common.plan) return job.print_plan(plan);

  job.open_results(task.attributes, nullptr, text_columns_of(c.common, task.columns));
  const acc::AccGraph graph(job.device(), job.graph(), task.needs, place_of(c));
  const auto result = solve(graph);
  VertexColumns columns = columns_of(job, c, graph);
  std::string found = add(graph, result, columns);
  job.write(columns);
  job.finish(AccFigures{.stats = result.stats, .found = std::move(found)});
}

}  // namespace sluice::apps

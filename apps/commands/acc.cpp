#include "apps/commands/acc.hpp"

#include <fmt/core.h>

#include "apps/cli/names.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

void declare_level_direction(Command& command, AccCommand& c) {
  c.acc.direction = acc::AccDirection::push;
  command.choice(
      "--direction", c.acc.direction, kAccDirections,
      "push from active vertices, pull to the others, or choose each round's cheaper direction; pull on "
      "directed graphs needs stored in-edges (--reverse)");
}

void declare_fusion(Command& command, acc::AccFusion& fusion) {
  command.choice("--fusion", fusion, kAccFusions, "which rounds share a kernel on a GPU; changes no result");
}

void declare_worklists(Command& command, AccCommand& c) {
  command.choice("--filter", c.acc.filter, kAccFilters,
                 "how a GPU finds the active vertices of the next round (in partitions by jit, ballot or "
                 "online, on ranks "
                 "by jit or ballot); changes no result");
  declare_fusion(command, c.acc.fusion);
}

void declare_acc(Command& command, AccCommand& c) {
  declare_seed(command, c.common);
  declare_job(command, c.common);
  command.set_idle(kIdleForSolvers);
}

acc::AccPlace place_of(const AccCommand& c, const PagingOptions& paging) {
  return {paging, &world(), c.common.scratch};
}

Vertex vertex_of(const Job& job, std::int64_t id, const char* option) {
  const auto vertex = job.ids().to_internal(id);
  if (!vertex) throw UsageError(fmt::format("{}: the graph has no vertex {}", option, id));
  return *vertex;
}

VertexColumns columns_of(const Job& job, const AccCommand& c, const acc::AccGraph& graph) {
  VertexColumns columns(job.ids(), graph.first(), graph.last());
  if (c.common.original_ids) columns.add_ids("vertices");
  return columns;
}

}  // namespace sluice::apps

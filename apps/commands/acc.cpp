#include "apps/commands/acc.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/cli/names.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

constexpr std::uint64_t kRowsAtOnce = 1u << 20;

std::uint64_t bytes_of(io::ElementType type) {
  switch (type) {
    case io::ElementType::u8:
      return 1;
    case io::ElementType::i32:
    case io::ElementType::f32:
      return 4;
    case io::ElementType::i64:
    case io::ElementType::f64:
      return 8;
  }
  return 0;
}

}  // namespace

void declare_acc_graph(Command& command, AccCommand& c, const std::string& help) {
  command.group("Graph");
  command.input_file("GRAPH", c.graph, help);
}

void declare_worklists(Command& command, AccCommand& c) {
  command.choice("--filter", c.acc.filter, kAccFilters,
                 "how a GPU finds the active vertices of the next round; changes no result");
  command.choice("--fusion", c.acc.fusion, kAccFusions,
                 "which rounds share a kernel on a GPU; changes no result");
}

void declare_acc(Command& command, AccCommand& c) {
  declare_seed(command, c.common);
  command.group("Results");
  declare_results(command, c.common);
  command.group("Machine");
  declare_device(command, c.common);
  command.group("Messages");
  declare_messages(command, c.common);
  command.set_idle(kIdleForSolvers);
}

acc::AccPlace place_of(const AccCommand& c) {
  return {c.common.paging, &world(), c.common.scratch};
}

Vertex vertex_of(const Job& job, std::int64_t id, const char* option) {
  const auto vertex = job.ids().to_internal(id);
  if (!vertex) throw UsageError(fmt::format("{}: the graph has no vertex {}", option, id));
  return *vertex;
}

std::vector<std::string> text_columns_of(const AccCommand& c, std::vector<std::string> names) {
  if (c.common.original_ids) names.insert(names.begin(), "vertices");
  return names.size() > 1 ? names : std::vector<std::string>{};
}

VertexColumns::VertexColumns(const Job& job, const AccCommand& c, const acc::AccGraph& graph)
    : job_(job), first_(graph.first()), last_(graph.last()) {
  if (c.common.original_ids) columns_.push_back({"vertices", io::ElementType::i64});
}

void VertexColumns::add(const std::string& name, io::ElementType type, const void* values,
                        std::uint64_t width) {
  columns_.push_back({name, type, width, static_cast<const std::byte*>(values)});
}

void VertexColumns::add_vertices(const std::string& name, std::span<const Vertex> vertices) {
  const auto type = job_.ids().wide() ? io::ElementType::i64 : io::ElementType::i32;
  columns_.push_back({name, type, 1, nullptr, vertices.data()});
}

void VertexColumns::write(io::ResultWriter& writer) const {
  std::vector<int> datasets;
  for (const Column& column : columns_) {
    std::vector<std::uint64_t> row;
    if (column.width > 1) row.push_back(column.width);
    datasets.push_back(writer.declare(column.name, column.type, row));
  }
  for (std::uint64_t first = first_; first < last_; first += kRowsAtOnce) {
    const std::uint64_t count = std::min(kRowsAtOnce, last_ - first);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      if (column.values == nullptr) {
        append_ids(writer, datasets[i], column, first, count);
        continue;
      }
      writer.append(datasets[i], column.values + first * column.width * bytes_of(column.type), count);
    }
  }
}

void VertexColumns::append_ids(io::ResultWriter& writer, int dataset, const Column& column,
                               std::uint64_t first, std::uint64_t count) const {
  std::vector<std::int64_t> ids;
  for (std::uint64_t row = first; row < first + count; ++row)
    ids.push_back(job_.ids().to_external(column.vertices ? column.vertices[row] : static_cast<Vertex>(row)));
  if (column.type == io::ElementType::i64) return writer.append(dataset, ids.data(), count);
  const std::vector<std::int32_t> narrow(ids.begin(), ids.end());
  writer.append(dataset, narrow.data(), count);
}

}  // namespace sluice::apps

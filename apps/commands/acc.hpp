// What the Active-Compute-Combine commands share: their common options, and vertices as the user names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/job/job.hpp"
#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"

namespace sluice::apps {

struct AccCommand {
  std::string graph;
  acc::AccOptions acc;
  CommonOptions common;
};

/// Declares GRAPH.
void declare_acc_graph(Command& command, AccCommand& c, const std::string& help);
/// Declares --filter and --fusion: for programs that have worklists.
void declare_worklists(Command& command, AccCommand& c);
/// Declares the seed and what every job takes.
void declare_acc(Command& command, AccCommand& c);

/// Who works on the graph, and how edges reach them.
acc::AccPlace place_of(const AccCommand& c);
/// The same place, and other partitions.
inline acc::AccPlace place_with(acc::AccPlace place, const PagingOptions& paging) {
  place.paging = paging;
  return place;
}

/// Of results of all vertices those that this rank writes.
template <class T>
std::span<const T> own_part(const acc::AccGraph& graph, std::span<const T> all) {
  return all.subspan(graph.first(), graph.last() - graph.first());
}

/// A vertex as the user names it. Throws UsageError naming `option` where the graph has none.
Vertex vertex_of(const Job& job, std::int64_t id, const char* option);

/// What open_results() gets for datasets that have a row a vertex: in text they stand side by side, with
/// --original-ids behind the ids.
std::vector<std::string> text_columns_of(const AccCommand& c, std::vector<std::string> names);

/// The datasets of a result, each with a row a vertex.
class VertexColumns {
 public:
  /// Begins with the ids themselves where they are asked for. Of the graph's vertices this rank's are
  /// written.
  VertexColumns(const Job& job, const AccCommand& c, const acc::AccGraph& graph);

  /// Of all vertices. `values` must outlive write(); a row has `width` of them.
  void add(const std::string& name, io::ElementType type, const void* values, std::uint64_t width = 1);
  /// Vertices, as ids of the graph file or, with --original-ids, of its input.
  void add_vertices(const std::string& name, std::span<const Vertex> vertices);
  void write(io::ResultWriter& writer) const;

 private:
  struct Column {
    std::string name;
    io::ElementType type = io::ElementType::i32;
    std::uint64_t width = 1;
    const std::byte* values = nullptr;  ///< null: ids
    const Vertex* vertices = nullptr;   ///< null: of the rows themselves
  };

  void append_ids(io::ResultWriter& writer, int dataset, const Column& column, std::uint64_t first,
                  std::uint64_t count) const;

  const Job& job_;
  std::uint64_t first_, last_;
  std::vector<Column> columns_;
};

}  // namespace sluice::apps

// From the engine's batches to the datasets of a result file (CONTRACT section 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "apps/data/ids.hpp"
#include "engine/batch/sink.hpp"
#include "engine/samples/options.hpp"
#include "engine/walks/options.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

/// What is converted, or appended to one column before the next, at a time: a large batch then needs no
/// second one of its size.
inline constexpr std::uint64_t kPieceElements = 64u << 10;

/// Calls append(from, rows) for all rows, of so many elements each, in pieces.
template <class Append>
void for_each_piece(std::uint64_t rows, std::uint64_t row_elements, Append&& append) {
  const std::uint64_t piece =
      std::max<std::uint64_t>(kPieceElements / std::max<std::uint64_t>(row_elements, 1), 1);
  for (std::uint64_t from = 0; from < rows; from += piece) append(from, std::min(piece, rows - from));
}

/// Declares and writes datasets of vertex ids: i32 or i64, internal or original, kNoVertex as -1.
class VertexWriter {
 public:
  VertexWriter(io::ResultWriter& writer, const IdMap& ids) : writer_(writer), ids_(ids) {}
  int declare(const std::string& name, std::vector<std::uint64_t> row = {});
  /// For rows that kNoVertex ends.
  int declare_padded(const std::string& name, std::vector<std::uint64_t> row);
  /// Appends `rows` rows that lie one after the other in `vertices`.
  void append(int dataset, std::span<const Vertex> vertices, std::uint64_t rows);
  static io::ElementType type_of(const IdMap& ids) {
    return ids.wide() ? io::ElementType::i64 : io::ElementType::i32;
  }

 private:
  io::ElementType type() const { return type_of(ids_); }

  io::ResultWriter& writer_;
  const IdMap& ids_;
  std::vector<std::int64_t> wide_;  ///< reused from batch to batch
};

/// Datasets that have a row a vertex, for vertices [first, last).
class VertexColumns {
 public:
  VertexColumns(const IdMap& ids, std::uint64_t first, std::uint64_t last)
      : ids_(ids), first_(first), last_(last) {}

  /// `values` are of all vertices and must outlive write(); a row has `width` of them.
  void add(const std::string& name, io::ElementType type, const void* values, std::uint64_t width = 1);
  /// `values` begin with the first vertex's.
  void add_own(const std::string& name, io::ElementType type, const void* values, std::uint64_t width = 1);
  /// Vertices, as ids of the graph file or, with --original-ids, of its input.
  void add_vertices(const std::string& name, std::span<const Vertex> vertices);
  /// The ids of the vertices themselves.
  void add_ids(const std::string& name) { columns_.push_back({name, io::ElementType::i64}); }
  void write(io::ResultWriter& writer) const;

 private:
  struct Column {
    std::string name;
    io::ElementType type = io::ElementType::i32;
    std::uint64_t width = 1;
    const std::byte* values = nullptr;  ///< null: ids
    const Vertex* vertices = nullptr;   ///< null: of the rows themselves
  };

  void append(io::ResultWriter& writer, int dataset, const Column& column, std::uint64_t first,
              std::uint64_t count) const;

  const IdMap& ids_;
  std::uint64_t first_, last_;
  std::vector<Column> columns_;
};

/// What open_results() gets for datasets that have a row a vertex: in text they stand side by side, with
/// --original-ids behind the ids.
std::vector<std::string> text_columns_of(const CommonOptions& common, std::vector<std::string> names);

/// Writes /walks, or for multidimensional /edges and /pool.
class WalkWriter : public WalkSink {
 public:
  WalkWriter(io::ResultWriter& writer, const IdMap& ids, const walks::Options& options);
  /// Throws UsageError where the form cannot hold such rows.
  static void require_rows_fit(io::ResultFormat format, const IdMap& ids, const walks::Options& options);
  void write(const WalkBatch& batch) override;

 private:
  VertexWriter columns_;
  int walks_ = -1, edges_ = -1, pool_ = -1;
};

/// Writes /source, /target, /depth, /edge, and offsets, seeds and (kind `node`) vertices by instance.
class SampleWriter : public SampleSink {
 public:
  /// In text form each edge's row begins with its instance, so that it can be read alone.
  SampleWriter(io::ResultWriter& writer, const IdMap& ids, const samples::Options& options,
               io::ResultFormat format);
  void write(const SampleBatch& batch) override;

  /// For make_result_writer: the datasets that stand side by side as text.
  static std::vector<std::string> text_columns(const samples::Options& options);

 private:
  io::ResultWriter& writer_;
  VertexWriter columns_;
  int instance_ = -1, source_ = -1, target_ = -1, depth_ = -1, edge_ = -1, seeds_ = -1, vertices_ = -1;
  int edge_offsets_ = -1, seed_offsets_ = -1, vertex_offsets_ = -1;
  std::vector<std::int64_t> numbers_;  ///< reused from batch to batch
};

}  // namespace sluice::apps

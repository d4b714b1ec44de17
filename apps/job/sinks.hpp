// Writes the engine's batches to the datasets of a result file (CONTRACT section 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "apps/data/ids.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/samples/options.hpp"
#include "engine/walks/options.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

/// Elements converted, or appended to one column before the next, at a time. A large batch then needs no
/// second buffer of its own size.
inline constexpr std::uint64_t kPieceElements = 64u << 10;

/// Calls append(from, rows) for pieces of all rows; a row has `row_elements` elements.
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
  /// For rows padded at their end with kNoVertex.
  int declare_padded(const std::string& name, std::vector<std::uint64_t> row);
  /// Appends `rows` rows, contiguous in `vertices`.
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

/// Datasets with one row per vertex, for vertices [first, last).
class VertexColumns {
 public:
  VertexColumns(const IdMap& ids, std::uint64_t first, std::uint64_t last)
      : ids_(ids), first_(first), last_(last) {}

  /// `values` has `width` elements for every vertex of the graph, from vertex 0 on, and must outlive write().
  void add(const std::string& name, io::ElementType type, const void* values, std::uint64_t width = 1);
  /// As add, but `values` begins with vertex `first`.
  void add_own(const std::string& name, io::ElementType type, const void* values, std::uint64_t width = 1);
  /// Adds vertex ids: those of the graph file or, with --original-ids, of its input.
  void add_vertices(const std::string& name, std::span<const Vertex> vertices);
  /// Adds the ids of the rows' own vertices.
  void add_ids(const std::string& name) { columns_.push_back({name, io::ElementType::i64}); }
  void write(io::ResultWriter& writer) const;

 private:
  struct Column {
    std::string name;
    io::ElementType type = io::ElementType::i32;
    std::uint64_t width = 1;
    const std::byte* values = nullptr;  ///< null for ids
    const Vertex* vertices = nullptr;   ///< null for the rows' own ids
  };

  void append(io::ResultWriter& writer, int dataset, const Column& column, std::uint64_t first,
              std::uint64_t count) const;

  const IdMap& ids_;
  std::uint64_t first_, last_;
  std::vector<Column> columns_;
};

/// The text columns for open_results() of datasets with one row per vertex: side by side, with --original-ids
/// after the vertex ids.
std::vector<std::string> text_columns_of(const CommonOptions& common, std::vector<std::string> names);

/// Writes /walks, or /edges and /pool for kind multidimensional.
class WalkWriter : public WalkSink {
 public:
  WalkWriter(io::ResultWriter& writer, const IdMap& ids, const walks::Options& options);
  /// Throws UsageError if the format cannot hold rows of this size.
  static void require_rows_fit(io::ResultFormat format, const IdMap& ids, const walks::Options& options);
  void write(const WalkBatch& batch) override;

 private:
  VertexWriter columns_;
  int walks_ = -1, edges_ = -1, pool_ = -1;
};

/// Writes /source, /target, /depth, /edge, and per instance offsets, seeds and (kind `node`) vertices.
class SampleWriter : public SampleSink {
 public:
  /// In text, each edge's row begins with its instance, so that a row is complete by itself.
  SampleWriter(io::ResultWriter& writer, const IdMap& ids, const samples::Options& options,
               io::ResultFormat format);
  void write(const SampleBatch& batch) override;

  /// For make_result_writer: the datasets that are columns of the text format.
  static std::vector<std::string> text_columns(const samples::Options& options);

 private:
  io::ResultWriter& writer_;
  VertexWriter columns_;
  int instance_ = -1, source_ = -1, target_ = -1, depth_ = -1, edge_ = -1, seeds_ = -1, vertices_ = -1;
  int edge_offsets_ = -1, seed_offsets_ = -1, vertex_offsets_ = -1;
  std::vector<std::int64_t> numbers_;  ///< reused from batch to batch
};

/// Writes /seeds (the first seed of each query), /vertices and /scores. If queries have several seeds, all of
/// them are in /query_seeds and /query_weights, delimited by /query_offsets.
class PprWriter : public ppr::Sink {
 public:
  PprWriter(io::ResultWriter& writer, const IdMap& ids, const Starts& starts, std::uint32_t top);
  void write(const ppr::Batch& batch) override;

  /// For make_result_writer: one query per line, with its seed, then the vertices, then the scores.
  static std::vector<std::string> text_columns() { return {"seeds", "vertices", "scores"}; }

 private:
  void write_seeds(const ppr::Batch& batch);

  io::ResultWriter& writer_;
  VertexWriter columns_;
  const Starts& starts_;
  int scores_, vertices_, seeds_;
  int query_seeds_ = -1, query_weights_ = -1, query_offsets_ = -1;
  std::vector<std::uint64_t> counts_;  ///< reused from batch to batch
};

}  // namespace sluice::apps

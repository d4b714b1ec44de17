#include "apps/job/sinks.hpp"

#include <algorithm>

namespace sluice::apps {

int VertexWriter::declare(const std::string& name, std::vector<std::uint64_t> row) {
  return writer_.declare(name, type(), std::move(row));
}

int VertexWriter::declare_padded(const std::string& name, std::vector<std::uint64_t> row) {
  return writer_.declare_padded(name, type(), std::move(row));
}

void VertexWriter::append(int dataset, std::span<const Vertex> vertices, std::uint64_t rows) {
  if (rows == 0) return;
  if (!ids_.wide()) {
    // The i32 values have the same bits: ids are below 2^31, and kNoVertex is -1.
    writer_.append(dataset, vertices.data(), rows);
    return;
  }
  const std::uint64_t row = vertices.size() / rows;
  for_each_piece(rows, row, [&](std::uint64_t from, std::uint64_t count) {
    const auto some = vertices.subspan(from * row, count * row);
    wide_.resize(some.size());
    std::transform(some.begin(), some.end(), wide_.begin(), [this](Vertex v) { return ids_.to_external(v); });
    writer_.append(dataset, wide_.data(), count);
  });
}

void VertexColumns::add(const std::string& name, io::ElementType type, const void* values,
                        std::uint64_t width) {
  add_own(name, type, static_cast<const std::byte*>(values) + first_ * width * io::element_bytes(type),
          width);
}

void VertexColumns::add_own(const std::string& name, io::ElementType type, const void* values,
                            std::uint64_t width) {
  columns_.push_back({name, type, width, static_cast<const std::byte*>(values)});
}

void VertexColumns::add_vertices(const std::string& name, std::span<const Vertex> vertices) {
  columns_.push_back({name, VertexWriter::type_of(ids_), 1, nullptr, vertices.data() + first_});
}

void VertexColumns::write(io::ResultWriter& writer) const {
  std::vector<int> datasets;
  for (const Column& column : columns_) {
    std::vector<std::uint64_t> row;
    if (column.width > 1) row.push_back(column.width);
    datasets.push_back(writer.declare(column.name, column.type, row));
  }
  writer.set_columns(columns_.size());
  for_each_piece(last_ - first_, 1, [&](std::uint64_t from, std::uint64_t count) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      append(writer, datasets[i], columns_[i], first_ + from, count);
  });
}

void VertexColumns::append(io::ResultWriter& writer, int dataset, const Column& column, std::uint64_t first,
                           std::uint64_t count) const {
  const std::uint64_t row = first - first_;
  if (column.values != nullptr)
    return writer.append(dataset, column.values + row * column.width * io::element_bytes(column.type), count);
  if (column.vertices != nullptr)
    return VertexWriter(writer, ids_).append(dataset, {column.vertices + row, count}, count);
  std::vector<std::int64_t> ids(count);
  for (std::uint64_t i = 0; i < count; ++i) ids[i] = ids_.to_external(static_cast<Vertex>(first + i));
  writer.append(dataset, ids.data(), count);
}

std::vector<std::string> text_columns_of(const CommonOptions& common, std::vector<std::string> names) {
  if (common.original_ids) names.insert(names.begin(), "vertices");
  return names.size() > 1 ? names : std::vector<std::string>{};
}

WalkWriter::WalkWriter(io::ResultWriter& writer, const IdMap& ids, const walks::Options& options)
    : columns_(writer, ids) {
  if (options.kind == walks::Kind::multidimensional) {
    edges_ = columns_.declare_padded("edges", {options.length, 2});
    pool_ = columns_.declare("pool", {options.frontier_size});
    writer.set_columns(2);
  } else {
    walks_ = columns_.declare_padded("walks", {options.length + std::uint64_t{1}});
  }
}

void WalkWriter::require_rows_fit(io::ResultFormat format, const IdMap& ids, const walks::Options& options) {
  const std::uint64_t id_bytes = ids.wide() ? sizeof(std::int64_t) : sizeof(std::int32_t),
                      length = options.length;
  if (options.kind == walks::Kind::multidimensional) {
    io::require_row_fits(format, "edges", 2 * length * id_bytes);
    io::require_row_fits(format, "pool", options.frontier_size * id_bytes);
  } else {
    io::require_row_fits(format, "walks", (length + 1) * id_bytes);
  }
}

void WalkWriter::write(const WalkBatch& batch) {
  if (walks_ >= 0) return columns_.append(walks_, batch.walks, batch.count);
  if (batch.count == 0) return;
  const std::uint64_t edges = batch.edges.size() / batch.count, pool = batch.pool.size() / batch.count;
  for_each_piece(batch.count, edges + pool, [&](std::uint64_t from, std::uint64_t rows) {
    columns_.append(edges_, batch.edges.subspan(from * edges, rows * edges), rows);
    columns_.append(pool_, batch.pool.subspan(from * pool, rows * pool), rows);
  });
}

std::vector<std::string> SampleWriter::text_columns(const samples::Options& options) {
  // The vertices of kind `node` are a result too, which columns of edges would not show.
  if (options.kind == samples::Kind::node) return {};
  return {"instance", "source", "target", "depth", "edge"};
}

SampleWriter::SampleWriter(io::ResultWriter& writer, const IdMap& ids, const samples::Options& options,
                           io::ResultFormat format)
    : writer_(writer), columns_(writer, ids) {
  if (format == io::ResultFormat::text && !text_columns(options).empty())
    instance_ = writer_.declare("instance", io::ElementType::i64, {});
  source_ = columns_.declare("source");
  target_ = columns_.declare("target");
  depth_ = writer_.declare("depth", io::ElementType::i32, {});
  edge_ = writer_.declare("edge", io::ElementType::i64, {});
  writer_.set_columns(static_cast<std::size_t>(edge_) + 1);
  edge_offsets_ = writer_.declare_offsets("instance_offsets");
  seeds_ = columns_.declare("seeds");
  seed_offsets_ = writer_.declare_offsets("seed_offsets");
  if (options.kind == samples::Kind::node) {
    vertices_ = columns_.declare("vertices");
    vertex_offsets_ = writer_.declare_offsets("vertex_offsets");
  }
}

void SampleWriter::write(const SampleBatch& batch) {
  if (batch.count == 0) return;
  // The text writer buffers a row until it has all columns; in pieces, few rows are buffered.
  std::uint64_t instance = 0, of_instance = 0;
  for_each_piece(batch.source.size(), 1, [&](std::uint64_t from, std::uint64_t edges) {
    if (instance_ >= 0) {
      numbers_.clear();
      while (numbers_.size() < edges) {
        const std::uint64_t some =
            std::min(batch.edge_counts[instance] - of_instance, edges - numbers_.size());
        numbers_.insert(numbers_.end(), some, static_cast<std::int64_t>(batch.first + instance));
        of_instance += some;
        if (of_instance == batch.edge_counts[instance]) ++instance, of_instance = 0;
      }
      writer_.append(instance_, numbers_.data(), edges);
    }
    columns_.append(source_, batch.source.subspan(from, edges), edges);
    columns_.append(target_, batch.target.subspan(from, edges), edges);
    static_assert(sizeof(EdgeIndex) == sizeof(std::int64_t), "edge positions are written as they are");
    writer_.append(depth_, batch.depth.data() + from, edges);
    writer_.append(edge_, batch.edge.data() + from, edges);
  });
  writer_.append_counts(edge_offsets_, batch.edge_counts);
  columns_.append(seeds_, batch.seeds, batch.seeds.size());
  writer_.append_counts(seed_offsets_, batch.seed_counts);
  if (vertices_ >= 0) {
    columns_.append(vertices_, batch.vertices, batch.vertices.size());
    writer_.append_counts(vertex_offsets_, batch.vertex_counts);
  }
}

PprWriter::PprWriter(io::ResultWriter& writer, const IdMap& ids, const Starts& starts, std::uint32_t top)
    : writer_(writer), columns_(writer, ids), starts_(starts) {
  scores_ = writer.declare("scores", io::ElementType::f64, {top});
  vertices_ = columns_.declare("vertices", {top});
  seeds_ = columns_.declare("seeds");
  writer.set_columns(static_cast<std::size_t>(seeds_) + 1);
  if (starts.max_seeds() == 1) return;
  query_seeds_ = columns_.declare("query_seeds");
  query_weights_ = writer.declare("query_weights", io::ElementType::f64, {});
  query_offsets_ = writer.declare_offsets("query_offsets");
}

void PprWriter::write(const ppr::Batch& batch) {
  const std::uint64_t top = batch.count == 0 ? 0 : batch.scores.size() / batch.count;
  for_each_piece(batch.count, top, [&](std::uint64_t from, std::uint64_t rows) {
    writer_.append(scores_, batch.scores.data() + from * top, rows);
    columns_.append(vertices_, batch.vertices.subspan(from * top, rows * top), rows);
    columns_.append(seeds_, batch.seeds.subspan(from, rows), rows);
  });
  if (query_seeds_ >= 0) write_seeds(batch);
}

void PprWriter::write_seeds(const ppr::Batch& batch) {
  const auto& offsets = starts_.offsets;
  const std::uint64_t begin = offsets[batch.first], count = offsets[batch.first + batch.count] - begin;
  columns_.append(query_seeds_, std::span(starts_.vertices).subspan(begin, count), count);
  writer_.append(query_weights_, starts_.weights.data() + begin, count);
  counts_.clear();
  for (Instance query = batch.first; query < batch.first + batch.count; ++query)
    counts_.push_back(offsets[query + 1] - offsets[query]);
  writer_.append_counts(query_offsets_, counts_);
}

}  // namespace sluice::apps

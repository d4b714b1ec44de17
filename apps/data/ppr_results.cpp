#include "apps/data/ppr_results.hpp"

namespace sluice::apps {

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

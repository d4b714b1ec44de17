#include "apps/data/ppr_results.hpp"

namespace sluice::apps {

PprWriter::PprWriter(io::ResultWriter& writer, const IdMap& ids, const Starts& starts, std::uint32_t top)
    : writer_(writer), columns_(writer, ids), starts_(starts) {
  scores_ = writer.declare("scores", io::ElementType::f64, {top});
  vertices_ = columns_.declare("vertices", {top});
  seeds_ = columns_.declare("seeds");
  if (starts.most_seeds() == 1) return;
  query_seeds_ = columns_.declare("query_seeds");
  query_weights_ = writer.declare("query_weights", io::ElementType::f64, {});
  query_offsets_ = writer.declare_offsets("query_offsets");
}

void PprWriter::write(const ppr::Batch& batch) {
  writer_.append(scores_, batch.scores.data(), batch.count);
  columns_.append(vertices_, batch.vertices, batch.count);
  columns_.append(seeds_, batch.seeds, batch.count);
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

// The datasets of a personalized PageRank run (CONTRACT section 3), and an independent check of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/data/ids.hpp"
#include "apps/job/sinks.hpp"
#include "engine/ppr/ppr.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

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

/// Returns a sink that recomputes every query by diffusion over a dense vector of doubles, with no code of
/// the solver. It throws RunError ("verify: query 17: ...") at the first fault, and otherwise passes the
/// batch to `next`. Takes 24 bytes of host memory a vertex, 32 with weights. If lists are in the file, each
/// step reads all that mass reaches. Keeps references to all arguments.
std::unique_ptr<ppr::Sink> verify_ppr(const Graph& graph, const Starts& starts, const ppr::Options& options,
                                      ppr::Sink& next);

}  // namespace sluice::apps

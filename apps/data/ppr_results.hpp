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

/// Writes /seeds (the first of each query), /vertices and /scores. Where a query has several seeds, all of
/// them are in /query_seeds and /query_weights, cut by /query_offsets.
class PprWriter : public ppr::Sink {
 public:
  PprWriter(io::ResultWriter& writer, const IdMap& ids, const Starts& starts, std::uint32_t top);
  void write(const ppr::Batch& batch) override;

  /// For make_result_writer: a query a line, its seed, then vertices, then scores.
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

/// A sink that throws RunError ("verify: query 17: ...") at the first fault, and else hands on to `next`. It
/// diffuses every query again over a dense vector of doubles, and shares no code with the solver: 24 bytes a
/// vertex of host memory, 32 with weights, and a read of all lists that mass reaches, a step, where they stay
/// in the graph's file. Keeps references to all its arguments.
std::unique_ptr<ppr::Sink> verify_ppr(const Graph& graph, const Starts& starts, const ppr::Options& options,
                                      ppr::Sink& next);

}  // namespace sluice::apps

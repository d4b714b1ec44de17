// Sinks that inspect results on their way: how good result lists are, and how long each query took.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/batch/starts.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::ppr {

/// The most that the untruncated reference scores may miss, in sum.
inline constexpr double kEvaluatedLimit = 1e-8;

/// Equals 0.0001 if a query's mass is scaled to 100.
inline constexpr double kLenientScore = 1e-6;

/// Sums over queries of a precision at k against one reference. Terms are rounded to 2^-30, to sum exactly.
struct Precision {
  /// Size of the intersection over k. Both lists hold the k best of all vertices: vertices without a score
  /// fill short lists, by id.
  double strict = 0;
  /// Of vertices with a score only: size of the intersection over the size of the reference list.
  double of_scored = 0;
  /// As in MeLoPPR's public code: of vertices with a score above kLenientScore in their list, those in common
  /// over the longer list.
  double lenient = 0;
};

/// Compares each result list with that of GD(L), if there is an L, and with that of the untruncated scores.
/// Both references are found by diffusion from the seeds.
class Evaluator : public Sink {
 public:
  /// Keeps references to all but `options`; works on `device`. If ranks share out the graph, all construct
  /// one at the same time, and the evaluated run counts what its queries request from other ranks.
  Evaluator(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
            Sink& next, const PagingOptions& paging = {});
  ~Evaluator() override;
  void write(const Batch& batch) override;
  const Backend* query_backend() const override;

  std::uint64_t queries() const { return queries_; }
  bool has_truncated() const { return truncated_truth_ != nullptr; }
  const Precision& truncated() const { return truncated_; }
  const Precision& limit() const { return limit_; }

 private:
  class Truth;

  Sink& next_;
  std::unique_ptr<Truth> truncated_truth_, limit_truth_;
  std::uint64_t queries_ = 0;
  Precision truncated_, limit_;
};

/// Records how long each query took.
class Latencies : public Sink {
 public:
  explicit Latencies(Sink& next) : next_(next) {}
  void write(const Batch& batch) override;
  /// Seconds within which a `share` of the queries was answered; 0 without queries.
  double quantile(double share);

 private:
  Sink& next_;
  ChargedVector<float> seconds_;
};

}  // namespace sluice::ppr

// How good lists are, and how long each took: sinks that look at results on their way.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/batch/starts.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::ppr {

/// What the untruncated scores that lists are compared with may miss in sum.
inline constexpr double kEvaluatedLimit = 1e-8;

/// 0.0001 where a query's mass is 100.
inline constexpr double kLenientScore = 1e-6;

/// Sums over queries of a precision at k against one truth, each rounded to 2^-30: the same in any order.
struct Precision {
  /// Size of the intersection over k. Both lists are the k best of a vector over all vertices: where fewer
  /// have a score, those without come behind, by id.
  double strict = 0;
  /// The same over vertices with a score alone: size of the intersection over the size of the truth's list.
  double of_scored = 0;
  /// As MeLoPPR's public code counts: vertices of both lists with a score above kLenientScore, those in
  /// common over the longer list.
  double lenient = 0;
};

/// Compares each list with that of GD(L), where there is an L, and with that of the untruncated scores, both
/// found by diffusion from the seeds.
class Evaluator : public Sink {
 public:
  /// Keeps references to all but `options`; works where the device does. Where ranks share out the graph, all
  /// make one at the same time, and what its queries ask of others is counted by the run that it looks at.
  Evaluator(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
            Sink& next, const PagingOptions& paging = {});
  ~Evaluator() override;
  void write(const Batch& batch) override;
  const Backend* asks() const override;

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

/// Notes how long each query took.
class Latencies : public Sink {
 public:
  explicit Latencies(Sink& next) : next_(next) {}
  void write(const Batch& batch) override;
  /// The time within which `share` of the queries were answered; 0 without queries.
  double quantile(double share);

 private:
  Sink& next_;
  ChargedVector<float> seconds_;
};

}  // namespace sluice::ppr

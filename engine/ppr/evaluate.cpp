#include "engine/ppr/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/batch/starts.hpp"
#include "engine/exec/threads.hpp"
#include "engine/ppr/backend.hpp"

namespace sluice::ppr {

namespace {

Options truth_of(const Options& options, std::uint32_t length) {
  Options truth = options;
  truth.method = Method::exact;
  truth.length = length;
  truth.tolerance = kEvaluatedLimit;
  truth.score_units = 0, truth.unit_degree = BallDegree::none;
  return truth;
}

struct QueryList {
  std::span<const Vertex> vertices;
  std::span<const double> scores;
};

QueryList list_of(const Batch& batch, std::uint64_t row) {
  const std::uint64_t first = row * batch.top;
  return {batch.vertices.subspan(first, batch.top), batch.scores.subspan(first, batch.top)};
}

/// The scored vertices of a list, ascending.
std::vector<Vertex> scored_of(std::span<const Vertex> list) {
  std::vector<Vertex> scored(list.begin(), std::find(list.begin(), list.end(), kNoVertex));
  std::sort(scored.begin(), scored.end());
  return scored;
}

/// The scored vertices, filled up to `size` with the smallest ids that are not among them.
std::vector<Vertex> filled(const std::vector<Vertex>& scored, std::uint64_t size) {
  std::vector<Vertex> all;
  auto at = scored.begin();
  for (Vertex v = 0; all.size() + static_cast<std::size_t>(scored.end() - at) < size; ++v) {
    if (at != scored.end() && *at == v) ++at;
    all.push_back(v);
  }
  all.insert(all.end(), at, scored.end());
  return all;
}

double common(const std::vector<Vertex>& a, const std::vector<Vertex>& b) {
  std::vector<Vertex> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<double>(both.size());
}

/// Rounded so that sums over 8 million queries are exact: ranks then add up to the sum of one process.
double rounded(double share) {
  constexpr double kUnit = 1.0 / (1u << 30);
  return std::round(share / kUnit) * kUnit;
}

/// Entries of a list, by falling score, that count in the lenient metric.
std::size_t counted(std::span<const double> scores) {
  const auto end = std::ranges::find_if(scores, [](double score) { return !(score > kLenientScore); });
  return static_cast<std::size_t>(end - scores.begin());
}

double lenient(const QueryList& list, const QueryList& truth) {
  const std::size_t size = counted(list.scores), right = counted(truth.scores),
                    longer = std::max(size, right);
  if (longer == 0) return 1;
  return common(scored_of(list.vertices.first(size)), scored_of(truth.vertices.first(right))) /
         static_cast<double>(longer);
}

Precision precision_of(const QueryList& list, const QueryList& truth, std::uint64_t vertices) {
  const std::uint64_t size = std::min<std::uint64_t>(list.vertices.size(), vertices);
  const auto scored = scored_of(list.vertices), right = scored_of(truth.vertices);
  return {rounded(common(filled(scored, size), filled(right, size)) / static_cast<double>(size)),
          rounded(common(scored, right) / static_cast<double>(right.size())), rounded(lenient(list, truth))};
}

void add(Precision& sum, const Precision& more) {
  sum.strict += more.strict;
  sum.of_scored += more.of_scored;
  sum.lenient += more.lenient;
}

}  // namespace

/// Answers the queries of evaluated batches with a reference backend.
class Evaluator::Truth {
 public:
  Truth(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
        const PagingOptions& paging, std::uint64_t queries, const Backend* sibling)
      : device_(device),
        vertices_(graph.vertices()),
        options_(options),
        backend_(make_ppr_backend(device, graph, starts, options_, paging, queries, sibling)) {}

  const Backend& backend() const { return *backend_; }

  void compare(const Batch& batch, Precision& sum) {
    for (std::uint64_t row = 0; row < batch.count; row += backend_->rows())
      compare(batch, row, std::min(backend_->rows(), batch.count - row), sum);
    backend_->release_memory();
  }

 private:
  void compare(const Batch& batch, std::uint64_t first, std::uint64_t count, Precision& sum) {
    const Batch truth = backend_->solve(batch.first + first, count);
    precisions_.resize(count);
    parallel_blocks(device_.threads(), count, 1, [&](std::uint64_t row, std::uint64_t, unsigned) {
      precisions_[row] = precision_of(list_of(batch, first + row), list_of(truth, row), vertices_);
    });
    for (const Precision& query : precisions_) add(sum, query);
  }

  const Device& device_;
  std::uint64_t vertices_;
  Options options_;
  std::unique_ptr<Backend> backend_;
  std::vector<Precision> precisions_;
};

Evaluator::Evaluator(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
                     Sink& next, const PagingOptions& paging)
    : next_(next) {
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  const std::uint32_t length = length_of(options);
  const auto truth = [&](std::uint32_t of_length) {
    const Backend* const sibling = truncated_truth_ ? &truncated_truth_->backend() : nullptr;
    return std::make_unique<Truth>(device, graph, starts, truth_of(options, of_length), paging,
                                   range.end - range.begin, sibling);
  };
  if (length != 0) truncated_truth_ = truth(length);
  limit_truth_ = truth(0);
}

Evaluator::~Evaluator() = default;

const Backend* Evaluator::query_backend() const {
  return &limit_truth_->backend();
}

void Evaluator::write(const Batch& batch) {
  if (truncated_truth_) truncated_truth_->compare(batch, truncated_);
  limit_truth_->compare(batch, limit_);
  queries_ += batch.count;
  next_.write(batch);
}

void Latencies::write(const Batch& batch) {
  for (const QueryFigures& query : batch.figures) seconds_.push_back(static_cast<float>(query.seconds));
  next_.write(batch);
}

double Latencies::quantile(double share) {
  if (seconds_.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(seconds_.size())));
  const auto at = seconds_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(seconds_.begin(), at, seconds_.end());
  return static_cast<double>(*at);
}

}  // namespace sluice::ppr

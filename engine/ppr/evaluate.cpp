#include "engine/ppr/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

PprOptions truth_of(const PprOptions& options, std::uint32_t length) {
  PprOptions truth = options;
  truth.method = PprMethod::exact;
  truth.length = length;
  truth.tolerance = kEvaluatedLimit;
  return truth;
}

DeviceOptions host_of(const Device& device) {
  return {.choice = DeviceChoice::host, .threads = device.threads()};
}

/// The vertices of a list, ascending.
std::vector<Vertex> scored_of(std::span<const Vertex> list) {
  std::vector<Vertex> scored(list.begin(), std::find(list.begin(), list.end(), kNoVertex));
  std::sort(scored.begin(), scored.end());
  return scored;
}

/// The same, filled up to `size` by the smallest ids that are not there.
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

Precision precision_of(std::span<const Vertex> list, std::span<const Vertex> truth, std::uint64_t vertices) {
  const std::uint64_t size = std::min<std::uint64_t>(list.size(), vertices);
  const auto scored = scored_of(list), right = scored_of(truth);
  return {common(filled(scored, size), filled(right, size)) / static_cast<double>(size),
          common(scored, right) / static_cast<double>(right.size())};
}

void add(Precision& sum, const Precision& more) {
  sum.strict += more.strict;
  sum.of_scored += more.of_scored;
}

}  // namespace

/// Finds the truth of one query at a time.
class PprEvaluator::Worker {
 public:
  Worker(const Device& device, const Graph& graph, const PprOptions& options, std::uint32_t length)
      : truncated_(truth_of(options, length)),
        limit_(truth_of(options, 0)),
        truncated_solver_(device, graph.out.view(), truncated_),
        limit_solver_(device, graph.out.view(), limit_),
        vertices_(options.top),
        scores_(options.top) {}

  void assign(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance query) {
    seeds_.assign(starts, vertices, seed, query);
  }
  std::span<const Vertex> truncated() { return list_of(truncated_solver_); }
  std::span<const Vertex> limit() { return list_of(limit_solver_); }

 private:
  std::span<const Vertex> list_of(QuerySolver& solver) {
    solver.solve(seeds_, 0);
    solver.write_top(vertices_, scores_);
    return vertices_;
  }

  PprOptions truncated_, limit_;
  QuerySolver truncated_solver_, limit_solver_;
  Seeds seeds_;
  std::vector<Vertex> vertices_;
  std::vector<double> scores_;
};

PprEvaluator::PprEvaluator(const Device& device, const Graph& graph, const Starts& starts,
                           const PprOptions& options, PprSink& next)
    : own_device_(device.is_cuda() ? std::make_unique<Device>(host_of(device)) : nullptr),
      device_(own_device_ ? *own_device_ : device),
      graph_(graph),
      starts_(starts),
      options_(options),
      length_(length_of(options)),
      next_(next) {
  for (unsigned i = 0; i < device_.threads(); ++i)
    workers_.push_back(std::make_unique<Worker>(device_, graph, options, length_));
}

PprEvaluator::~PprEvaluator() = default;

void PprEvaluator::write(const PprBatch& batch) {
  std::vector<Precision> truncated(batch.count), limit(batch.count);
  const std::uint64_t n = graph_.vertices();
  parallel_blocks(device_.threads(), batch.count, 1, [&](std::uint64_t row, std::uint64_t, unsigned thread) {
    Worker& worker = *workers_[thread];
    worker.assign(starts_, n, options_.seed, batch.first + row);
    const auto list = batch.vertices.subspan(row * batch.top, batch.top);
    if (length_ != 0) truncated[row] = precision_of(list, worker.truncated(), n);
    limit[row] = precision_of(list, worker.limit(), n);
  });
  // Sums in order of query, so that they are the same for any threads.
  for (const Precision& query : truncated) add(truncated_, query);
  for (const Precision& query : limit) add(limit_, query);
  queries_ += batch.count;
  next_.write(batch);
}

void PprLatencies::write(const PprBatch& batch) {
  for (const QueryFigures& query : batch.figures) seconds_.push_back(static_cast<float>(query.seconds));
  next_.write(batch);
}

double PprLatencies::quantile(double share) {
  if (seconds_.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(seconds_.size())));
  const auto at = seconds_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(seconds_.begin(), at, seconds_.end());
  return static_cast<double>(*at);
}

}  // namespace sluice

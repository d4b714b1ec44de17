#include "engine/pagerank/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/pagerank/rank_graph.hpp"

namespace sluice::pagerank {

namespace {

constexpr std::uint64_t kVerticesPerBlock = 1u << 10;

/// Bound on the rounding of one iteration and of the doubles here, in L1 (fixed_rank.hpp, share.hpp).
double rounding_bound(const Graph& graph, const Options& options) {
  const double sums = static_cast<double>(graph.vertices() + graph.edges()) * 0x1p-62 + 1e-12;
  return options.precision == RankPrecision::f32 ? sums + 0x1p-23 : sums;
}

/// Adds doubles without the error of each addition (Kahan, CACM 8, 1965): many equal ranks round alike, and
/// a million of them would be off by 1e-11.
class CompensatedSum {
 public:
  void add(double value) {
    const double corrected = value - lost_, sum = sum_ + corrected;
    lost_ = (sum - sum_) - corrected;
    sum_ = sum;
  }
  double sum() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

double weight_of(const CsrView& lists, EdgeIndex e) {
  return lists.weights != nullptr ? lists.weights[e] : 1.0;
}

/// One iteration that pushes ranks along out-edges.
class PushIteration {
 public:
  PushIteration(const Options& options, std::span<const double> ranks)
      : self_loops_(options.dangling == Dangling::self_loop),
        ranks_(ranks),
        next_(ranks.size(), "verified ranks") {
    if (!host_budget().counts_only()) std::fill(next_.begin(), next_.end(), 0.0);
  }

  /// Pushes the rank of v, whose list is row `row` of `lists`. Several threads may push at once. Returns the
  /// rank of v if it is dangling, else 0.
  double operator()(Vertex v, const CsrView& lists, std::uint64_t row) {
    const EdgeIndex begin = lists.offsets[row], end = lists.offsets[row + 1];
    double total = 0;
    bool has_loop = !self_loops_;
    for (EdgeIndex e = begin; e < end; ++e) {
      total += weight_of(lists, e);
      has_loop = has_loop || (lists.targets[e] == v && weight_of(lists, e) > 0);
    }
    if (!has_loop) add_share(v, ranks_[v] / (total + 1));
    if (!has_loop) total += 1;
    if (!(total > 0)) return ranks_[v];
    for (EdgeIndex e = begin; e < end; ++e)
      add_share(lists.targets[e], ranks_[v] * weight_of(lists, e) / total);
    return 0;
  }
  void add_dangling(double dangling) {
    std::atomic_ref(dangling_).fetch_add(dangling, std::memory_order_relaxed);
  }

  /// The L1 change of the ranks, after all ranks of the job have pushed.
  double change(const Options& options, Communicator* peers) {
    if (peers != nullptr) {
      peers->all_reduce(next_.span(), Reduce::sum, "verified ranks");
      peers->all_reduce(std::span(&dangling_, 1), Reduce::sum, "verified ranks");
    }
    const auto n = static_cast<double>(ranks_.size());
    double change = 0;
    for (std::size_t v = 0; v < ranks_.size(); ++v) {
      const double next = (1 - options.damping) / n + options.damping * (next_[v] + dangling_ / n);
      change += std::fabs(next - ranks_[v]);
    }
    return change;
  }

 private:
  void add_share(Vertex target, double share) {
    std::atomic_ref(next_[target]).fetch_add(share, std::memory_order_relaxed);
  }

  bool self_loops_;
  std::span<const double> ranks_;
  HostArray<double> next_;
  double dangling_ = 0;
};

void require_sum(double sum, double allowed) {
  if (std::fabs(sum - 1) > allowed) throw RunError(fmt::format("verify: ranks sum to {}", sum));
}

void require_change(const RankCheck& check, double allowed, double last_l1) {
  if (check.change <= allowed) return;
  throw RunError(fmt::format(
      "verify: one more iteration changes ranks by {} in L1, the last iteration by {}; {} is allowed",
      check.change, last_l1, allowed));
}

}  // namespace

RankCheck check_ranks(const Graph& graph, const Options& options, std::span<const double> ranks,
                      Communicator* peers, unsigned threads) {
  RankCheck check;
  PushIteration push(options, ranks);
  if (ranks.empty() || host_budget().counts_only()) return check;
  CompensatedSum sum;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    if (!(ranks[v] >= 0 && ranks[v] <= 2))
      throw RunError(fmt::format("verify: the rank of vertex {} is {}", v, ranks[v]));
    sum.add(ranks[v]);
  }
  check.sum = sum.sum();
  const OwnedRows own(graph.out.offsets.span(), peers);
  const SweepRows rows =
      SweepRows::of(graph.out.view(), graph.edge_source.get(), options.weighted, own.first, own.last);
  const auto push_rows = [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
    double dangling = 0;
    for (std::uint64_t row = begin; row < end; ++row)
      dangling += push(static_cast<Vertex>(own.first + row), lists, row);
    push.add_dangling(dangling);
  };
  if (rows.csr.vertices > 0)
    for_row_blocks(rows.csr, rows.file, true, options.weighted, threads, kVerticesPerBlock, push_rows);
  check.change = push.change(options, peers);
  return check;
}

void verify_pagerank(const Graph& graph, const Options& options, std::span<const double> ranks,
                     double last_l1, Communicator* peers, unsigned threads) {
  if (graph.vertices() == 0) return;
  const RankCheck check = check_ranks(graph, options, ranks, peers, threads);
  const double rounding_error = rounding_bound(graph, options);
  require_sum(check.sum, rounding_error / (1 - options.damping));
  require_change(check, options.damping * last_l1 + rounding_error, last_l1);
}

double allowed_change(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                      const DynamicRankResult& result, double before) {
  const double d = options.damping, t = dynamic.frontier_tolerance;
  const bool uniform = options.dangling == Dangling::uniform;
  const bool updates_all = dynamic.method == RankMethod::naive_dynamic;
  const bool uses_frontier = !updates_all && dynamic.method != RankMethod::dynamic_traversal;
  const double rounds =
      dynamic.method == RankMethod::residual_frontier ? 1 : static_cast<double>(result.iterations);
  double change = d * result.last_l1 + rounding_bound(graph, options) / (1 - d);
  if (!updates_all) change += before / (uniform ? 1 - d : 1);
  if (uses_frontier && rounds > 0) {
    change += t < 1 ? d * rounds * t * std::pow(1 - t, -rounds) * (1 + result.last_l1) : 2;
  }
  return change * (uniform ? 2 : 1);
}

double verify_followed(const Graph& graph, const Options& options, const DynamicRankOptions& dynamic,
                       std::span<const double> ranks, const DynamicRankResult& result, double before,
                       Communicator* peers, unsigned threads) {
  if (graph.vertices() == 0) return 0;
  const RankCheck check = check_ranks(graph, options, ranks, peers, threads);
  const double allowed = allowed_change(graph, options, dynamic, result, before);
  // With `uniform` ranks are normalised; else their sum may be off by the allowed change / (1 - d).
  const double sum_error = options.dangling == Dangling::uniform ? rounding_bound(graph, options) : allowed;
  require_sum(check.sum, sum_error / (1 - options.damping));
  require_change(check, allowed, result.last_l1);
  return check.change;
}

}  // namespace sluice::pagerank

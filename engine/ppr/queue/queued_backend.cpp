// Monte-Carlo queries on a graph in partitions, or shared out over ranks. Walks of many queries run together
// in the queue of engine/walks, on the host or a GPU. The host then counts the ends, query by query. Ranks
// run their walks together, whichever queries they belong to.
//
// One thread answers 200 queries of 2,000 walks on Kronecker 18 in 0.117 s here, in 16 partitions, and in
// 0.163 s from a file. If queries wait for lists, as diffusion does, it takes 0.354 and 0.448 s (medians of
// seven alternating runs). A GPU is slower on short runs: 2,000 queries of 1,000 walks in 32 partitions on an
// H200 take 63 to 73 ms, by lists 49 to 53; from a file 0.17 and 0.08 to 0.1 s (Kronecker 20, two runs each).
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/methods/solver.hpp"
#include "engine/ppr/methods/top_list.hpp"
#include "engine/ppr/queue/end_walks.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kEnds = "ends of walks";

PagingOptions in_partitions(PagingOptions paging) {
  paging.force_partitions = true;
  return paging;
}

/// The ends of the walks of some queries, and the steps per query.
class Ends final : public WalkSink {
 public:
  Ends(Instance first_query, std::uint64_t queries, std::uint32_t walks)
      : first_(first_query * walks), walks_(walks), ends_(queries * walks, kEnds), steps_(queries) {}

  void write(const WalkBatch& batch) override {
    const Vertex* row = batch.walks.data();
    for (std::uint64_t i = batch.first - first_, left = batch.count; left > 0;) {
      const std::uint64_t query = i / walks_, chunk = std::min(left, (query + 1) * walks_ - i);
      for (const std::uint64_t end = i + chunk; i < end; ++i, row += walks::kEndWords)
        ends_[i] = row[0], steps_[query] += row[1];
      left -= chunk;
    }
  }

  std::span<const Vertex> of_query(std::uint64_t query) const {
    return ends_.span().subspan(query * walks_, walks_);
  }
  std::uint64_t steps(std::uint64_t query) const { return steps_[query]; }

 private:
  Instance first_;
  std::uint64_t walks_;
  HostArray<Vertex> ends_;  ///< [queries][walks]
  std::vector<std::uint64_t> steps_;
};

class QueuedPpr final : public Backend {
 public:
  /// If ranks share out the graph, others may request lists through the feeder of `sibling` meanwhile.
  QueuedPpr(const QueryRun& run, std::uint64_t queries, const Backend* sibling)
      : Backend(run, queries),
        ranks_(run.paging.shard),
        feeder_(sibling ? sibling->rank_feeder() : nullptr),
        counting_(device_.is_cuda() ? &host_.emplace(DeviceOptions{DeviceChoice::host, device_.threads()})
                                    : &device_),
        results_(*counting_, rows_, options_.top),
        resident_(device_, graph_, in_partitions(run.paging)),
        seeds_(impl(), starts_, options_.seed) {
    const Instance all = starts_.instances(graph_.vertices());
    if (all > kMaxInstances / options_.walks)
      throw UsageError("--walks: all queries have more than 2^62 walks (lower it, or use fewer queries)");
    if (!device_.is_planning()) return;
    const Ends ends = run_walks(0, std::min(queries_at_once(), std::max<std::uint64_t>(queries, 1)));
    counting_->memory().charge_and_release(max_count_bytes(), "a query");
  }

  Batch solve(Instance first, std::uint64_t count) override {
    for (std::uint64_t done = 0; done < count;) {
      const double begin = seconds_now();
      const std::uint64_t chunk = std::min(queries_at_once(), count - done);
      agree_on_walks(true);
      count_ends(run_walks(first + done, chunk), first, done, chunk, begin);
      done += chunk;
    }
    return results_.batch(first, count);
  }

  void release_memory() override {}

  void finish() override {
    while (agree_on_walks(false)) run_walks(0, 0);
  }

  void plan(std::uint64_t, Plan& plan) override {
    const PlannedPages& pages = *impl().planned;
    plan.streamed = device_.is_cuda();
    plan.partitions = pages.plan.partitions.size();
    plan.graph_bytes = impl().offsets.bytes();
    plan.cache_bytes = pages.plan.slot_bytes;
    plan.largest_query_bytes = max_count_bytes() + pages.plan.instance_bytes * options_.walks;
    plan.threads = static_cast<unsigned>(std::min(rows_, queries_at_once()));
  }

  ListTraffic traffic() const override {
    ListTraffic traffic{stats_, stats_.entries_sent, stats_.entries_received, stats_.rounds};
    traffic.host_to_device_bytes += impl().host_to_device_bytes;
    return traffic;
  }

 private:
  ResidentGraph::Impl& impl() const { return resident_.impl(); }

  /// Queries of this rank per run of walks: their ends stay in host memory until they are counted.
  std::uint64_t queries_at_once() const {
    constexpr std::uint64_t kFraction = 8, kMaxBytes = std::uint64_t{2} << 30;
    const std::uint64_t bytes = std::min(host_budget().available() / kFraction, kMaxBytes);
    return std::clamp<std::uint64_t>(bytes / (options_.walks * sizeof(Vertex)), 1, rows_);
  }

  /// Ranks meet here before they run walks together; false once none has walks left. Ranks that have not
  /// arrived may request lists meanwhile.
  bool agree_on_walks(bool walks) {
    if (feeder_) feeder_->finish();
    return any_left(ranks_, walks, "walks of queries");
  }

  Ends run_walks(Instance first, std::uint64_t count) {
    Ends ends(first, count, options_.walks);
    const EndProgram program{impl().view, WalkRules::of(options_), seeds_.view(), options_.walks};
    const Instance begin = first * options_.walks;
    run_end_walks(impl(), program, options_, {begin, begin + count * options_.walks}, ends, stats_);
    return ends;
  }

  /// The most bytes for counting the ends of one query.
  std::uint64_t max_count_bytes() const {
    const std::uint64_t n = graph_.vertices(), reached = std::min<std::uint64_t>(n, options_.walks);
    return ReachedVertices<Mass>::peak_bytes(reached, n) + TopList::bytes(reached, options_.top);
  }

  /// Counts the ends of queries [first + done, first + done + count).
  void count_ends(const Ends& ends, Instance first, std::uint64_t done, std::uint64_t count,
                  double start_time) {
    const std::uint64_t workers =
        std::clamp<std::uint64_t>(counting_->memory().available() / max_count_bytes(), 1,
                                  std::min<std::uint64_t>(counting_->threads(), count));
    std::vector<std::unique_ptr<QuerySolver>> solvers(workers);
    for (auto& solver : solvers) solver = QuerySolver::make(*counting_, graph_.out.view(), options_);
    const auto count_query = [&](QuerySolver& solver, std::uint64_t i) {
      begin(solver, results_, first, done + i);
      solver.count_ends(ends.of_query(i), ends.steps(i));
      results_.store(done + i, solver, start_time).peak_bytes += ends.of_query(i).size_bytes();
    };
    parallel_blocks(static_cast<unsigned>(workers), count, 1,
                    [&](std::uint64_t i, std::uint64_t to, unsigned thread) {
                      for (; i < to; ++i) count_query(*solvers[thread], i);
                    });
  }

  Communicator* ranks_;
  std::shared_ptr<ListFeeder> feeder_;
  std::optional<Device> host_;
  const Device* counting_;  ///< the device that counts the ends
  Rows<Buffer> results_;
  ResidentGraph resident_;
  AllSeeds seeds_;
  RunStats stats_;
};

}  // namespace

std::unique_ptr<Backend> make_queued_ppr(const QueryRun& run, std::uint64_t queries, const Backend* sibling) {
  return std::make_unique<QueuedPpr>(run, queries, sibling);
}

}  // namespace sluice::ppr

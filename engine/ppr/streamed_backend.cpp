// Queries on the host's cores, with lists fetched on demand. Many queries are under way at once. Each goes on
// until a step needs lists that are not available, and waits until those are fetched for all queries
// together. How far a query reaches is not known in advance: a query that finds no memory left is given up,
// and runs again when fewer are under way.
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/wanted.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/methods/solver.hpp"

namespace sluice::ppr {

namespace {

/// Queries under way at most, and at first: the memory per query is not known.
constexpr std::uint64_t kMaxActive = 4096, kInitialActive = 64;
/// The slots get at least this part of the memory (1 / kMaxSlotDivisor).
constexpr std::uint64_t kMaxSlotDivisor = 64;

/// A query under way.
struct ActiveQuery {
  ActiveQuery(const Device& device, const CsrView& graph, const Options& options, unsigned balls,
              std::uint64_t batch_row)
      : solver(QuerySolver::make(device, graph, options, balls)), row(batch_row) {}

  enum class State { fresh, waiting, ended, failed };

  std::unique_ptr<QuerySolver> solver;
  std::uint64_t row;
  State state = State::fresh;
  double start_time = seconds_now();
};

class StreamedPpr final : public Backend {
 public:
  StreamedPpr(const QueryRun& run, std::uint64_t queries, const Backend* sibling)
      : Backend(run, queries),
        paging_(run.paging),
        results_(device_, rows_, options_.top),
        wanted_(graph_.vertices()) {
    if (paging_.shard) {
      // Ranks construct a feeder together, or none does.
      if (sibling != nullptr) feeder_ = sibling->rank_feeder();
      if (!feeder_) feeder_ = make_feeder(device_, graph_, options_, paging_, 0);
      memory_ = device_.memory().available();
      slot_divisor_ = kMaxSlotDivisor;
    }
    if (device_.is_planning()) pending_.resize(1), begin();  // plans the first query
  }

  Batch solve(Instance first, std::uint64_t count) override {
    first_ = first;
    pending_.resize(count);
    for (std::uint64_t row = 0; row < count; ++row) pending_[row] = count - 1 - row;
    while (begin()) {
      advance_all({});
      collect_missing();
      traffic_.list_rounds += !active_.empty();
      feeder_->feed(wanted_, [this](const AvailableLists& lists) { advance_all(lists); });
      // A query alone, one ball at a time, did not fit: it gets memory of the slots.
      if (std::exchange(needs_more_memory_, false)) release_memory(), slot_divisor_ *= 2;
    }
    return results_.batch(first, count);
  }

  void release_memory() override {
    if (paging_.shard) return;
    traffic_ = traffic();
    feeder_.reset();
  }

  void plan(std::uint64_t, Plan& plan) override {
    plan.partitions = traffic().partitions;
    plan.largest_query_bytes = worst_host_query(graph_, options_, balls_);
    plan.threads = static_cast<unsigned>(std::min(rows_, kMaxActive));
  }

  void finish() override {
    if (feeder_) feeder_->finish();
  }

  ListTraffic traffic() const override {
    ListTraffic sum = traffic_;
    if (feeder_) sum.add(feeder_->traffic());
    return sum;
  }

  std::shared_ptr<ListFeeder> rank_feeder() const override { return paging_.shard ? feeder_ : nullptr; }

  bool reads_in_place() const override { return paging_.transport == Transport::mapped; }

 private:
  /// Begins as many queries as memory allows. False if all have ended.
  bool begin() {
    if (!feeder_) {
      const std::uint64_t available = device_.memory().available();
      feeder_ = make_feeder(device_, graph_, options_, paging_, available / slot_divisor_);
      memory_ = device_.memory().available();
    }
    if (pending_.empty() && active_.empty()) {
      pending_.swap(postponed_);
      limit_ = std::max<std::uint64_t>(limit_ / 4, 1);
    } else if (!failed_) {
      limit_ = std::min(2 * limit_, kMaxActive);
    }
    // The queries under way will take more memory.
    const auto has_workspace = [this] {
      return active_.empty() || device_.memory().available() > memory_ / 4;
    };
    while (!pending_.empty() && active_.size() < limit_ && has_workspace()) {
      try {
        active_.push_back(
            std::make_unique<ActiveQuery>(device_, graph_.out.view(), options_, balls_, pending_.back()));
      } catch (const BudgetError&) {
        if (active_.empty()) throw;
        break;
      }
      pending_.pop_back();
    }
    return !active_.empty();
  }

  /// Advances all queries as far as these lists allow.
  void advance_all(const AvailableLists& lists) {
    const std::uint64_t active_count = active_.size();
    const auto threads_per_query =
        static_cast<unsigned>(device_.threads() / std::max<std::uint64_t>(active_count, 1));
    parallel_blocks(device_.threads(), active_count, 1, [&](std::uint64_t i, std::uint64_t, unsigned) {
      ActiveQuery& query = *active_[i];
      query.solver->use_threads(std::clamp(threads_per_query, 1u, balls_));
      try {
        advance_query(query, lists);
      } catch (const BudgetError&) {
        if (active_count == 1 && balls_ == 1 && slot_divisor_ == kMaxSlotDivisor) throw;
        query.state = ActiveQuery::State::failed;
      }
    });
    remove_ended();
  }

  void advance_query(ActiveQuery& query, const AvailableLists& lists) {
    if (query.state == ActiveQuery::State::fresh) {
      Backend::begin(*query.solver, results_, first_, query.row);
      query.state = ActiveQuery::State::waiting;
    }
    if (!query.solver->advance(lists)) return;
    results_.store(query.row, *query.solver, query.start_time);
    query.state = ActiveQuery::State::ended;
  }

  void remove_ended() {
    const std::uint64_t active_count = active_.size();
    bool failed = false;
    for (const auto& query : active_) {
      if (query->state == ActiveQuery::State::ended) failed_ = false;
      if (query->state != ActiveQuery::State::failed) continue;
      postponed_.push_back(query->row);
      ++traffic_.restarts;
      failed = true;
    }
    if (failed) {
      failed_ = true;
      limit_ = std::max<std::uint64_t>(active_count / 2, 1);
      needs_more_memory_ = active_count == 1 && balls_ == 1;
      if (active_count == 1) balls_ = std::max(balls_ / 2, 1u);
    }
    std::erase_if(active_, [](const auto& query) { return query->state >= ActiveQuery::State::ended; });
  }

  void collect_missing() {
    wanted_.clear();
    parallel_blocks(device_.threads(), active_.size(), 1, [&](std::uint64_t i, std::uint64_t, unsigned) {
      active_[i]->solver->for_each_missing([this](Vertex v) { wanted_.add(v); });
    });
  }

  PagingOptions paging_;
  Rows<Buffer> results_;
  WantedLists wanted_;
  std::shared_ptr<ListFeeder> feeder_;
  ListTraffic traffic_;  ///< of earlier feeders, and this one's rounds and restarts
  Instance first_ = 0;
  std::vector<std::uint64_t> pending_;  ///< rows that no thread works on, the next one last
  std::vector<std::unique_ptr<ActiveQuery>> active_;
  std::vector<std::uint64_t> postponed_;                             ///< rows that found no memory left
  std::uint64_t memory_ = 0;                                         ///< available to queries
  std::uint64_t limit_ = kInitialActive;                             ///< queries under way at once
  unsigned balls_ = is_one_by_one(options_) ? options_.balls : 1;    ///< parallel balls
  std::uint64_t slot_divisor_ = 2;  ///< the slots get 1 / slot_divisor_ of the memory, a half or less
  bool failed_ = false;      ///< a query failed since one ended: more at once would fail too
  bool needs_more_memory_ = false;  ///< a query that ran alone needs more memory
};

}  // namespace

std::unique_ptr<Backend> make_streamed_ppr(const QueryRun& run, std::uint64_t queries,
                                           const Backend* sibling) {
  return std::make_unique<StreamedPpr>(run, queries, sibling);
}

}  // namespace sluice::ppr

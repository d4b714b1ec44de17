// Requests of items to the ranks that own the lists for which they wait. Items stay on their rank: questions
// are sent in order of the asked rank, and answers return in that order.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/executor.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::samples {

template <Executor E>
class OwnerRequests {
 public:
  using Counts = std::vector<std::uint64_t>;
  using Columns = std::vector<RoutedColumn>;

  /// `link` is null on all ranks or on none; null: data passes through host memory. Throws BudgetError.
  OwnerRequests(Communicator& ranks, DeviceRanks* link, const Device& device, E& executor,
                const PartitionPlan& partitions, RunStats& stats,
                std::uint64_t piece_bytes = kFewQuestionsBytes)
      : device_(device),
        executor_(executor),
        stats_(stats),
        owners_(device, owners_of_vertices(ranks, partitions), kQuestions),
        order_(static_cast<std::size_t>(ranks.size()), kQuestions),
        sent_(order_.keys()),
        router_(ranks, device, link, piece_bytes) {}

  /// Begins a round: pack() orders the items that ask and writes their questions. All ranks call it. Throws
  /// BudgetError on all ranks if pack() does on one.
  void begin(const std::function<void()>& pack) {
    received_ = router_.exchange_counts_after(pack, sent_, kQuestions);
    stats_.entries_sent += total_sent() - sent_[router_.own_rank()];
    stats_.entries_received += total_received() - received_[router_.own_rank()];
  }
  /// Orders the numbers below `count` for which items.awaited_vertex(number) is not kNoVertex by the rank
  /// that owns the vertex's list. Returns how many they are.
  template <class Items>
  std::uint64_t order(std::uint64_t count, const Items& items) {
    executor_.order_by_key(count, OwnerOfItem<Items>{items, owners_.view()}, order_);
    sent_ = order_.counts();
    return total_sent();
  }

  /// [total_sent()] the items that ask, in the executor's memory; sent(): how many ask each rank.
  const std::uint32_t* items() const { return order_.items.data(); }
  std::uint64_t total_sent() const { return order_.size(); }
  const Counts& sent() const { return sent_; }
  /// Number of questions to this rank, from all ranks together and from each.
  std::uint64_t total_received() const { return sum_of(received_); }
  const Counts& received() const { return received_; }

  /// send_questions() sends columns of questions to the owners; send_answers() sends one answer to each
  /// question back.
  void send_questions(const Columns& columns) { send(columns, sent_, received_, kQuestions); }
  void send_answers(const Columns& columns) { send(columns, received_, sent_, kAnswers); }

  /// Any number of answers to each question: sends `given[r]` to rank r, and receives `expected[r]` from it.
  void send_answers(const Columns& columns, const Counts& answers_sent, const Counts& answers_received) {
    send(columns, answers_sent, answers_received, kAnswers);
  }
  /// Calls answer(), which sets `answers_sent`, the number of answers to each rank; returns the number of
  /// answers from each rank. All ranks call it; throws as begin().
  Counts answer_counts_after(const std::function<void()>& answer, const Counts& answers_sent) const {
    return router_.exchange_counts_after(answer, answers_sent, kAnswers);
  }
  /// The number of answers of each rank, given the first answer begins[q] of each question q and the number
  /// of questions counts[r] of each rank r.
  Counts answers_by_rank(const std::uint64_t* begins, const Counts& counts) {
    executor_.wait("answers");
    return sums_by_rank(device_, begins, counts);
  }
  static std::uint64_t sum_of(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }

  std::uint64_t bytes() const { return owners_.bytes() + order_.items.bytes(); }

 private:
  static constexpr const char* kQuestions = "requests of ranks";
  static constexpr const char* kAnswers = "replies of ranks";
  static constexpr std::uint64_t kFewQuestionsBytes = 4u << 20;

  void send(const Columns& columns, const Counts& send, const Counts& receive, const char* label) {
    stats_.exchange_seconds += router_.send(columns, send, receive, executor_.stream(), label);
  }

  const Device& device_;
  E& executor_;
  RunStats& stats_;
  DeviceOwnership owners_;  ///< ranks that own vertices
  OrderedItems order_;      ///< items that ask, ordered by the asked rank
  Counts sent_, received_;  ///< questions, by rank
  Router router_;           ///< last: destroyed first, to abort transfers that other ranks may never join
};

}  // namespace sluice::samples

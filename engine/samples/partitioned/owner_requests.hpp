// What items ask of the ranks that own the lists which they wait for. Items stay where they are: questions go
// out in order of the rank that is asked, and answers come back in that order.
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

  /// `link` null, on all ranks: what ranks hand each other goes through their hosts. Throws BudgetError.
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

  /// A round begins: pack() orders the items that ask, and writes their questions. All ranks call it. Throws
  /// BudgetError on all of them where pack() does on one.
  void open(const std::function<void()>& pack) {
    received_ = router_.counts_after(pack, sent_, kQuestions);
    stats_.entries_sent += asked() - sent_[router_.own()];
    stats_.entries_received += remote() - received_[router_.own()];
  }
  /// Orders those items below `items` for which waits(item) is a vertex and not kNoVertex by the rank that
  /// owns its list; returns how many there are.
  template <class Waits>
  std::uint64_t order(std::uint64_t items, const Waits& waits) {
    executor_.order_by_key(items, OwnerOfItem<Waits>{waits, owners_.view()}, order_);
    sent_ = order_.counts();
    return asked();
  }

  /// [asked()] the items that ask, in the executor's memory, and how many ask each rank.
  const std::uint32_t* items() const { return order_.items.data(); }
  std::uint64_t asked() const { return order_.size(); }
  const Counts& sent() const { return sent_; }
  /// Questions of all ranks to this one, and of each.
  std::uint64_t remote() const { return sum_of(received_); }
  const Counts& received() const { return received_; }

  /// Columns of questions go to the ranks that are asked, and of answers, one to each, back.
  void ask(const Columns& columns) { send(columns, sent_, received_, kQuestions); }
  void answer(const Columns& columns) { send(columns, received_, sent_, kAnswers); }

  /// Columns of any number of answers to each question: `given[r]` go to rank r, and `expected[r]` come.
  void answer(const Columns& columns, const Counts& given, const Counts& expected) {
    send(columns, given, expected, kAnswers);
  }
  /// How many answers come from each rank, after answer(), which says how many are `given` to each; as
  /// open().
  Counts expect(const std::function<void()>& answer, const Counts& given) const {
    return router_.counts_after(answer, given, kAnswers);
  }
  /// How many answers each rank gives or gets, where those to question q begin at begins[q], and `counts`
  /// says how many questions there are of each rank.
  Counts by_rank(const std::uint64_t* begins, const Counts& counts) {
    executor_.wait("answers");
    return sums_by_rank(device_, begins, counts);
  }
  static std::uint64_t sum_of(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }

  std::uint64_t bytes() const { return owners_.bytes() + order_.items.bytes(); }

 private:
  static constexpr const char* kQuestions = "questions of ranks";
  static constexpr const char* kAnswers = "answers of ranks";
  static constexpr std::uint64_t kFewQuestionsBytes = 4u << 20;

  void send(const Columns& columns, const Counts& send, const Counts& receive, const char* label) {
    stats_.exchange_seconds += router_.send(columns, send, receive, executor_.stream(), label);
  }

  const Device& device_;
  E& executor_;
  RunStats& stats_;
  DeviceOwnership owners_;  ///< ranks that own vertices
  OrderedItems order_;      ///< items that ask, by the rank that is asked
  Counts sent_, received_;  ///< questions, by rank
  Router router_;           ///< goes first, for others may not come any more
};

}  // namespace sluice::samples

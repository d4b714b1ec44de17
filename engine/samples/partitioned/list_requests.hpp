// Questions about single lists, if each rank owns a range of partitions: an instance stays on its origin rank
// and asks the owners of the lists for which it waits. Owners answer as their partitions become resident. All
// questions of a batch are sent together, and so are the answers.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/owner_requests.hpp"

namespace sluice::samples {

/// Questions to lists and the answers to them, as kernels see them. `Lists`:
///   Question, Answer    trivially copyable values; question.vertex is the vertex of its list
///   kOneAnswer          true: each question has one answer; else answer_count(question) returns how many
///   answer(group, question, page_items, answers, counters)   false: a larger group must answer
template <class Lists>
struct ListQuestions {
  Lists lists;
  typename Lists::Question* questions;
  std::uint64_t* answer_begins;  ///< [questions + 1] first answer of each question; null: one answer each
  typename Lists::Answer* answers;

  SLUICE_HD Vertex awaited_vertex(std::uint64_t q) const { return questions[q].vertex; }
  SLUICE_HD std::uint64_t answer_begin(std::uint64_t q) const {
    return Lists::kOneAnswer ? q : answer_begins[q];
  }
  /// Computes the number of answers of a question.
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    answer_begins[q] = lists.answer_count(questions[q]);
  }
  /// Answers a question from a resident list.
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& page_items, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t q = page_items.item(k);
    return lists.answer(group, questions[q], page_items, answers + answer_begin(q), counters);
  }
};

/// The items of a `Batch` that ask. `Batch` has
///   awaited_vertex(item)  the vertex whose list the item waits for; kNoVertex: it does not wait
///   question(item)        the item's question about that list
///   receive(group, item, question, answers, count)  receives the answers
template <class Batch, class Lists>
struct AskingItems {
  Batch batch;
  const std::uint32_t* order;  ///< the items, ordered by the rank that they ask
  ListQuestions<Lists> requests;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    requests.questions[q] = batch.question(order[q]);
  }
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    const std::uint64_t begin = requests.answer_begin(q), end = requests.answer_begin(q + 1);
    batch.receive(group, order[q], requests.questions[q], requests.answers + begin, end - begin);
    return true;
  }
};

/// Passes the only answer of a question to its item; one lane per question.
template <class Batch, class Lists>
struct ReceiveAnswer {
  AskingItems<Batch, Lists> items;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    PickCounters none;
    items(SingleLane{}, q, none);
  }
};

template <Executor E, class Lists>
class ListRequests {
 public:
  /// `link` is null on all ranks or on none; null: data passes through host memory. Throws BudgetError.
  ListRequests(Communicator& ranks, DeviceRanks* link, const Device& device, const Lists& lists,
               const PartitionCache& cache, PagedItems<E>& items, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        lists_(lists),
        items_(items),
        requests_(ranks, link, device, items.executor(), cache.plan().partitions, stats) {}

  /// Sends the questions of items below `items` and answers those of other ranks. Returns false if no rank
  /// asks. All ranks call it. Throws BudgetError on all ranks or on none.
  template <class Batch>
  bool visit(const Batch& batch, std::uint64_t items) {
    const auto asking_items = [&] { return AskingItems<Batch, Lists>{batch, requests_.items(), view(own_)}; };
    requests_.begin([&] {
      own_.questions.reserve(device_, requests_.order(items, batch), kPurpose);
      items_.executor().for_each(requests_.total_sent(), {}, asking_items());
    });
    if (!any_left(&ranks_, requests_.total_sent(), "samples under way")) return false;
    agree_on_memory(&ranks_,
                    [&] { remote_.questions.reserve(device_, requests_.total_received(), kPurpose); });
    requests_.send_questions(
        {{own_.questions.data(), remote_.questions.data(), sizeof(typename Lists::Question)}});
    Counts answers_sent, answers_received;
    agree_on_memory(&ranks_, [&] {
      answers_sent = reserve_answers(remote_, requests_.received());
      items_.visit(requests_.total_received(), view(remote_));
      answers_received = reserve_answers(own_, requests_.sent());
    });
    requests_.send_answers({{remote_.answers.data(), own_.answers.data(), sizeof(typename Lists::Answer)}},
                           answers_sent, answers_received);
    if constexpr (Lists::kOneAnswer) {
      items_.executor().for_each(requests_.total_sent(), {}, ReceiveAnswer<Batch, Lists>{asking_items()});
    } else {
      items_.for_each_group(requests_.total_sent(), asking_items());
    }
    return true;
  }

  std::uint64_t bytes() const { return requests_.bytes() + own_.bytes() + remote_.bytes(); }

 private:
  using Counts = typename OwnerRequests<E>::Counts;
  static constexpr const char* kPurpose = "requests of ranks";

  struct Memory {
    Buffer<typename Lists::Question> questions;
    Buffer<std::uint64_t> answer_begins;
    Buffer<typename Lists::Answer> answers;

    std::uint64_t bytes() const { return questions.bytes() + answer_begins.bytes() + answers.bytes(); }
  };
  ListQuestions<Lists> view(const Memory& memory) const {
    return {lists_, memory.questions.data(), memory.answer_begins.data(), memory.answers.data()};
  }

  /// Allocates memory for the answers to `counts[r]` questions from, or to, each rank r. Returns the number
  /// of answers per rank, which the asking and the answering rank both compute.
  Counts reserve_answers(Memory& memory, const Counts& counts) {
    const std::uint64_t questions = requests_.sum_of(counts);
    std::uint64_t answers = questions;
    if constexpr (!Lists::kOneAnswer) {
      memory.answer_begins.reserve(device_, questions + 1, kPurpose);
      items_.executor().for_each(questions, {}, view(memory));
      answers = items_.executor().exclusive_sum(memory.answer_begins.data(), questions);
    }
    memory.answers.reserve(device_, answers, kPurpose);
    return Lists::kOneAnswer ? counts : requests_.answers_by_rank(memory.answer_begins.data(), counts);
  }

  Communicator& ranks_;
  const Device& device_;
  Lists lists_;
  PagedItems<E>& items_;
  Memory own_, remote_;  ///< questions of this rank, and questions to it
  OwnerRequests<E> requests_;
};

}  // namespace sluice::samples

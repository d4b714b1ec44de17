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
///   kOneAnswer          true: each question has one answer; else answers(question) returns how many
///   answer(group, question, present, to, counters)   false: a larger group must answer
template <class Lists>
struct ListQuestions {
  Lists lists;
  typename Lists::Question* asked;
  std::uint64_t* places;  ///< [questions + 1] first answer of each question; null: one answer each
  typename Lists::Answer* answers;

  SLUICE_HD Vertex waits(std::uint64_t q) const { return asked[q].vertex; }
  SLUICE_HD std::uint64_t place(std::uint64_t q) const { return Lists::kOneAnswer ? q : places[q]; }
  /// Computes the number of answers of a question.
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    places[q] = lists.answers(asked[q]);
  }
  /// Answers a question from a resident list.
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t q = present.item(k);
    return lists.answer(group, asked[q], present, answers + place(q), counters);
  }
};

/// The items of a `Batch` that ask. `Batch` has
///   waits(item)      the vertex whose list the item waits for; kNoVertex: it does not wait
///   question(item)   the item's question about that list
///   take(group, item, question, answers, count)      receives the answers
template <class Batch, class Lists>
struct AskingItems {
  Batch batch;
  const std::uint32_t* order;  ///< the items, ordered by the rank that they ask
  ListQuestions<Lists> questions;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    questions.asked[q] = batch.question(order[q]);
  }
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    const std::uint64_t from = questions.place(q), to = questions.place(q + 1);
    batch.take(group, order[q], questions.asked[q], questions.answers + from, to - from);
    return true;
  }
};

/// Passes the only answer of a question to its item; one lane per question.
template <class Batch, class Lists>
struct TakeAnswer {
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
    const auto asking = [&] { return AskingItems<Batch, Lists>{batch, requests_.items(), view(own_)}; };
    requests_.open([&] {
      own_.asked.reserve(device_, requests_.order(items, WaitsOf<Batch>{batch}), kPurpose);
      items_.executor().for_each(requests_.asked(), {}, asking());
    });
    if (!any_left(&ranks_, requests_.asked(), "samples under way")) return false;
    agree_on_memory(&ranks_, [&] { remote_.asked.reserve(device_, requests_.remote(), kPurpose); });
    requests_.ask({{own_.asked.data(), remote_.asked.data(), sizeof(typename Lists::Question)}});
    Counts given, expected;
    agree_on_memory(&ranks_, [&] {
      given = lay_out(remote_, requests_.received());
      const auto remote = view(remote_);
      items_.visit(requests_.remote(), WaitsOf<ListQuestions<Lists>>{remote}, remote);
      expected = lay_out(own_, requests_.sent());
    });
    requests_.answer({{remote_.answers.data(), own_.answers.data(), sizeof(typename Lists::Answer)}}, given,
                     expected);
    if constexpr (Lists::kOneAnswer) {
      items_.executor().for_each(requests_.asked(), {}, TakeAnswer<Batch, Lists>{asking()});
    } else {
      items_.each(requests_.asked(), asking());
    }
    return true;
  }

  std::uint64_t bytes() const { return requests_.bytes() + own_.bytes() + remote_.bytes(); }

 private:
  using Counts = typename OwnerRequests<E>::Counts;
  static constexpr const char* kPurpose = "questions of ranks";

  struct Memory {
    Buffer<typename Lists::Question> asked;
    Buffer<std::uint64_t> places;
    Buffer<typename Lists::Answer> answers;

    std::uint64_t bytes() const { return asked.bytes() + places.bytes() + answers.bytes(); }
  };
  ListQuestions<Lists> view(const Memory& memory) const {
    return {lists_, memory.asked.data(), memory.places.data(), memory.answers.data()};
  }

  /// Allocates memory for the answers to `counts[r]` questions from, or to, each rank r. Returns the number
  /// of answers per rank, which the asking and the answering rank both compute.
  Counts lay_out(Memory& memory, const Counts& counts) {
    const std::uint64_t questions = requests_.sum_of(counts);
    std::uint64_t answers = questions;
    if constexpr (!Lists::kOneAnswer) {
      memory.places.reserve(device_, questions + 1, kPurpose);
      items_.executor().for_each(questions, {}, view(memory));
      answers = items_.executor().exclusive_sum(memory.places.data(), questions);
    }
    memory.answers.reserve(device_, answers, kPurpose);
    return Lists::kOneAnswer ? counts : requests_.by_rank(memory.places.data(), counts);
  }

  Communicator& ranks_;
  const Device& device_;
  Lists lists_;
  PagedItems<E>& items_;
  Memory own_, remote_;  ///< questions of this rank, and questions to it
  OwnerRequests<E> requests_;
};

}  // namespace sluice::samples

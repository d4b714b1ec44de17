// What instances ask about single lists, where ranks own a range of partitions each: an instance stays on its
// origin rank and asks the owners of the lists that it waits for, which answer as their partitions come. All
// questions of a batch travel together, and so do the answers.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/owner_requests.hpp"

namespace sluice::samples {

/// Questions to lists and the answers to them, as kernels see them. `Lists`:
///   Question, Answer    values that travel as they are; a question names the `vertex` of its list
///   kOneAnswer          true: each question has one; else answers(question) says how many
///   answer(group, question, present, to, counters)   false: left to a larger group
template <class Lists>
struct ListQuestions {
  Lists lists;
  typename Lists::Question* asked;
  std::uint64_t* places;  ///< [questions + 1] answers before a question's; null: each has one
  typename Lists::Answer* answers;

  SLUICE_HD Vertex waits(std::uint64_t q) const { return asked[q].vertex; }
  SLUICE_HD std::uint64_t place(std::uint64_t q) const { return Lists::kOneAnswer ? q : places[q]; }
  /// How many answers a question has.
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    places[q] = lists.answers(asked[q]);
  }
  /// These, from a list that is here.
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t q = present.item(k);
    return lists.answer(group, asked[q], present, answers + place(q), counters);
  }
};

/// Items that ask, of a `Batch`:
///   waits(item)      the vertex whose list it waits for; kNoVertex: none
///   question(item)   to that list
///   take(group, item, question, answers, count)
template <class Batch, class Lists>
struct AskingItems {
  Batch batch;
  const std::uint32_t* order;  ///< the items, by the rank that is asked
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

/// A lane takes the one answer.
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
  /// `link` null, on all ranks: what ranks hand each other goes through their hosts. Throws BudgetError.
  ListRequests(Communicator& ranks, DeviceRanks* link, const Device& device, const Lists& lists,
               const PartitionCache& cache, PagedItems<E>& items, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        lists_(lists),
        items_(items),
        requests_(ranks, link, device, items.executor(), cache.plan().partitions, stats) {}

  /// Asks for all that items below `items` wait for, and answers what other ranks ask; false: no rank asks.
  /// All ranks call it. Throws BudgetError on all of them, or on none.
  template <class Batch>
  bool visit(const Batch& batch, std::uint64_t items) {
    const auto asking = [&] { return AskingItems<Batch, Lists>{batch, requests_.items(), view(own_)}; };
    requests_.open([&] {
      own_.asked.reserve(device_, requests_.order(items, WaitsOf<Batch>{batch}), kPurpose);
      items_.executor().for_each(requests_.asked(), {}, asking());
    });
    if (!any_left(&ranks_, requests_.asked(), "samples under way")) return false;
    together(&ranks_, [&] { remote_.asked.reserve(device_, requests_.remote(), kPurpose); });
    requests_.ask({{own_.asked.data(), remote_.asked.data(), sizeof(typename Lists::Question)}});
    Counts given, expected;
    together(&ranks_, [&] {
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

  /// Takes memory for the answers to questions, of which `counts[r]` are those of rank r, or for it; returns
  /// how many answers those have, which both who asks and who answers work out.
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
  Memory own_, remote_;  ///< what this rank asks, and what it is asked
  OwnerRequests<E> requests_;
};

}  // namespace sluice::samples

// Layer samples over ranks that each own a range of partitions: an instance stays on its origin rank and asks
// the owners of the lists that it waits for. All questions of a batch travel together, and so do the answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/layer/partitioned_step.hpp"
#include "engine/samples/partitioned/owner_requests.hpp"

namespace sluice::samples {

/// What ranks ask each other takes of device memory, for one instance of each of them: about as many
/// questions come as go out.
inline std::uint64_t layer_rank_bytes(const LayerSizes& sizes) {
  constexpr std::uint64_t kQuestion = sizeof(LayerQuestion) + sizeof(std::uint64_t),
                          kAsked = sizeof(std::uint32_t) + kQuestion + sizeof(LayerRegion);
  return std::max(sizes.frontier, sizes.layer) * (kAsked + kQuestion + sizeof(LayerRegion));
}

/// Questions and the answers to them, as kernels see them. A question is answered by one region, or by those
/// of all candidates; who asks and who answers both work out how many.
struct LayerAnswers {
  LayerLists program;
  LayerQuestion* asked;
  std::uint64_t* places;  ///< [questions + 1] regions before a question's
  LayerRegion* regions;
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  struct Measure;
  struct Waits;
  struct Give;
};

/// How many regions a question is answered by.
struct LayerAnswers::Measure {
  LayerAnswers answers;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    const LayerQuestion& asked = answers.asked[q];
    answers.places[q] = asked.phase == LayerPhase::all ? answers.program.candidates(asked.vertex) : 1;
  }
};

struct LayerAnswers::Waits {
  const LayerQuestion* asked;

  SLUICE_HD Vertex operator()(std::uint64_t q) const { return asked[q].vertex; }
};

/// Answers a question about a list that is here.
struct LayerAnswers::Give {
  LayerAnswers answers;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const LayerLists& program = answers.program;
    const std::uint64_t q = present.item(k);
    const LayerQuestion& asked = answers.asked[q];
    if (Group::kSize <= 32 && program.is_long(asked, answers.longest)) return false;
    LayerRegion* const to = answers.regions + answers.places[q];
    if (asked.phase == LayerPhase::all) {
      program.answer_all(group, asked, present, to, counters);
      return true;
    }
    const LayerRegion found = program.answer(group, asked, present, counters);
    if (group.rank() == 0) *to = found;
    return true;
  }
};

/// The items of a batch that ask, as kernels see them.
template <class Batch>
struct LayerRequests {
  Batch batch;
  const std::uint32_t* order;  ///< items that ask, by the rank that is asked
  LayerAnswers answers;

  struct Ask;
  struct Take;

  SLUICE_HD PagedLayerSlot slot_of(std::uint64_t q) const {
    return batch.slots.at(order[q] / batch.program.items());
  }
  SLUICE_HD std::uint64_t item_of(std::uint64_t q) const { return order[q] % batch.program.items(); }
};

template <class Batch>
struct LayerRequests<Batch>::Ask {
  LayerRequests requests;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    requests.answers.asked[q] = requests.batch.program.question(requests.slot_of(q), requests.item_of(q));
  }
};

/// Takes the answer to a question.
template <class Batch>
struct LayerRequests<Batch>::Take {
  LayerRequests requests;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    const auto& program = requests.batch.program;
    const LayerAnswers& answers = requests.answers;
    const PagedLayerSlot slot = requests.slot_of(q);
    const LayerRegion* const from = answers.regions + answers.places[q];
    if (answers.asked[q].phase == LayerPhase::all) {
      LayerRegion* const to = program.candidates_of(slot, requests.item_of(q));
      const std::uint64_t count = answers.places[q + 1] - answers.places[q];
      for (std::uint64_t i = group.rank(); i < count; i += Group::kSize) to[i] = from[i];
    } else if (group.rank() == 0) {
      program.accept(slot, requests.item_of(q), *from);
    }
    return true;
  }
};

/// `Batch` is a PagedLayerBatch.
template <Executor E, class Batch>
class LayerRanks {
  using Requests = LayerRequests<Batch>;
  using Counts = typename OwnerRequests<E>::Counts;

 public:
  /// `link` null, on all ranks: what ranks hand each other goes through their hosts.
  LayerRanks(Communicator& ranks, DeviceRanks* link, const Device& device, const LayerLists& program,
             const PartitionCache& cache, PagedItems<E>& items, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        program_(program),
        items_(items),
        requests_(ranks, link, device, items.executor(), cache.plan().partitions, stats) {}

  /// Asks for all that the batch's instances wait for, and answers what other ranks ask; false: no rank asks.
  /// All ranks call it. Throws BudgetError on all of them, or on none.
  bool visit(const Batch& batch, std::uint64_t instances) {
    requests_.open([&] { pack(batch, instances); });
    if (!any_left(&ranks_, requests_.asked(), "samples under way")) return false;
    together(&ranks_, [&] { remote_.questions.reserve(device_, requests_.remote(), kPurpose); });
    requests_.ask({{own_.questions.data(), remote_.questions.data(), sizeof(LayerQuestion)}});
    Counts given, expected;
    together(&ranks_, [&] {
      given = lay_out(remote_, requests_.received());
      items_.visit(requests_.remote(), LayerAnswers::Waits{remote_.questions.data()},
                   LayerAnswers::Give{view(remote_)});
      expected = lay_out(own_, requests_.sent());
    });
    requests_.answer({{remote_.regions.data(), own_.regions.data(), sizeof(LayerRegion)}}, given, expected);
    items_.each(requests_.asked(), typename Requests::Take{requests(batch)});
    return true;
  }

  std::uint64_t bytes() const { return requests_.bytes() + own_.bytes() + remote_.bytes(); }

 private:
  static constexpr const char* kPurpose = "questions of ranks";

  struct Memory {
    Buffer<LayerQuestion> questions;
    Buffer<std::uint64_t> places;
    Buffer<LayerRegion> regions;

    std::uint64_t bytes() const { return questions.bytes() + places.bytes() + regions.bytes(); }
  };

  LayerAnswers view(const Memory& memory) const {
    return {program_, memory.questions.data(), memory.places.data(), memory.regions.data(),
            device_.is_cuda() ? GraphView::kHubDegree : LayerLists::kAnyLength};
  }
  Requests requests(const Batch& batch) const { return {batch, requests_.items(), view(own_)}; }

  /// Questions in order of the rank that owns the list, those of an instance side by side.
  void pack(const Batch& batch, std::uint64_t instances) {
    const std::uint64_t asked =
        requests_.order(instances * batch.program.items(), typename Batch::Waits{batch});
    own_.questions.reserve(device_, asked, kPurpose);
    items_.executor().for_each(asked, {}, typename Requests::Ask{requests(batch)});
  }

  /// Takes memory for the answers to questions, of which `counts[r]` are those of rank r, or for it; returns
  /// how many answers those have.
  Counts lay_out(Memory& memory, const Counts& counts) {
    E& executor = items_.executor();
    const std::uint64_t questions = requests_.sum_of(counts);
    memory.places.reserve(device_, questions + 1, kPurpose);
    executor.for_each(questions, {}, LayerAnswers::Measure{view(memory)});
    memory.regions.reserve(device_, executor.exclusive_sum(memory.places.data(), questions), kPurpose);
    return requests_.by_rank(memory.places.data(), counts);
  }

  Communicator& ranks_;
  const Device& device_;
  const LayerLists& program_;
  PagedItems<E>& items_;
  Memory own_, remote_;  ///< what this rank asks, and what it is asked
  OwnerRequests<E> requests_;
};

}  // namespace sluice::samples

// Layer samples over ranks that each own a range of partitions: an instance stays on its origin rank and asks
// the owners of the lists that it waits for. All questions of a batch travel together, and so do the answers.
// Once for both backends: questions are put in order, answered and taken in where the instances are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/layer/partitioned_batch.hpp"
#include "engine/samples/layer/remote_requests.hpp"
#include "engine/samples/partitioned/items.hpp"

namespace sluice {

/// What ranks ask each other takes of device memory, for one instance of each of them: about as many
/// questions come as go out.
inline std::uint64_t layer_rank_bytes(const LayerSizes& sizes) {
  constexpr std::uint64_t kQuestion = sizeof(LayerQuestion) + sizeof(std::uint64_t),
                          kAsked = sizeof(std::uint32_t) + kQuestion + sizeof(LayerRegion);
  return std::max(sizes.frontier, sizes.layer) * (kAsked + kQuestion + sizeof(LayerRegion));
}

/// A batch's questions and the answers to them, as kernels see them.
template <class Batch>
struct LayerRequests {
  Batch batch;
  const std::uint32_t* order;  ///< items that ask, by the rank that is asked
  LayerQuestion* questions;    ///< of these

  struct Ask;
  struct Take;

  SLUICE_HD PagedLayerSlot slot_of(std::uint64_t q) const {
    return batch.slots.at(order[q] / batch.program.items());
  }
};

template <class Batch>
struct LayerRequests<Batch>::Ask {
  LayerRequests requests;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    const Batch& batch = requests.batch;
    const std::uint64_t item = requests.order[q], each = batch.program.items();
    if (group.rank() == 0) requests.questions[q] = batch.program.question(requests.slot_of(q), item % each);
    return true;
  }
};

/// Takes the answer to a question.
template <class Batch>
struct LayerRequests<Batch>::Take {
  LayerRequests requests;
  LayerAnswersView answers;
  const LayerRegion* came;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    const auto& program = requests.batch.program;
    const PagedLayerSlot slot = requests.slot_of(q);
    const std::uint64_t item = requests.order[q] % program.items();
    const LayerRegion* const from = came + answers.places[q];
    if (requests.questions[q].phase == LayerPhase::all) {
      LayerRegion* const to = program.candidates_of(slot, item);
      const std::uint64_t count = answers.places[q + 1] - answers.places[q];
      for (std::uint64_t i = group.rank(); i < count; i += Group::kSize) to[i] = from[i];
    } else if (group.rank() == 0) {
      program.accept(slot, item, *from);
    }
    return true;
  }
};

/// `Batch` is a PagedLayerBatch.
template <Executor E, class Batch>
class LayerRanks {
  using Requests = LayerRequests<Batch>;

 public:
  /// `link` null, on all ranks: what ranks hand each other goes through their hosts.
  LayerRanks(Communicator& ranks, DeviceRanks* link, const Device& device, const LayerLists& program,
             const PartitionCache& cache, PagedItems<E>& items, RunStats& stats)
      : ranks_(ranks),
        device_(device),
        items_(items),
        stats_(stats),
        router_(ranks, device, link, kPieceBytes),
        owners_(device, owners_of_vertices(ranks, cache.plan().partitions), kQuestions),
        order_(static_cast<std::size_t>(ranks.size()), kQuestions),
        counts_(order_.keys()),
        answers_(device, program, items),
        remote_(device, program, items) {}

  /// Asks for all that the batch's instances wait for, and answers what other ranks ask; false: no rank asks.
  /// All ranks call it. Throws BudgetError on all of them, or on none.
  bool visit(const Batch& batch, std::uint64_t instances) {
    std::uint64_t asked = 0;
    together(&ranks_, [&] { asked = pack(batch, instances * batch.program.items()); });
    if (!any_left(&ranks_, asked, "samples under way")) return false;
    const std::vector<std::uint64_t> remote = router_.counts(counts_, kQuestions);
    const std::uint64_t come = std::accumulate(remote.begin(), remote.end(), std::uint64_t{0});
    LayerQuestion* to = nullptr;
    together(&ranks_, [&] { to = remote_.expect(come); });
    exchange({questions_.data(), to, sizeof(LayerQuestion)}, counts_, remote, kQuestions);
    const auto own = static_cast<std::size_t>(ranks_.rank());
    stats_.entries_sent += asked - counts_[own];
    stats_.entries_received += come - remote[own];

    together(&ranks_, [&] {
      remote_.answer(remote);
      answers_.lay_out(questions_.data(), counts_);
      regions_.reserve(device_, answers_.regions(), kAnswers);
    });
    const LayerAnswers<E>& given = remote_.answers();
    exchange({remote_.regions(), regions_.data(), sizeof(LayerRegion)}, given.regions_of_ranks(),
             answers_.regions_of_ranks(), kAnswers);
    items_.each(asked, typename Requests::Take{requests(batch), answers_.view(), regions_.data()});
    return true;
  }

  std::uint64_t bytes() const {
    return owners_.bytes() + order_.items.bytes() + questions_.bytes() + answers_.bytes() + regions_.bytes() +
           remote_.bytes();
  }

 private:
  static constexpr const char* kQuestions = "questions of ranks";
  static constexpr const char* kAnswers = "answers of ranks";
  static constexpr std::uint64_t kPieceBytes = 4u << 20;  // questions are few, beside edges

  void exchange(const RoutedColumn& column, const std::vector<std::uint64_t>& send,
                const std::vector<std::uint64_t>& receive, const char* label) {
    stats_.exchange_seconds += router_.send({&column, 1}, send, receive, items_.executor().stream(), label);
  }

  Requests requests(const Batch& batch) const { return {batch, order_.items.data(), questions_.data()}; }

  /// Questions in order of the rank that owns the list, those of an instance side by side; returns how many.
  std::uint64_t pack(const Batch& batch, std::uint64_t items) {
    const OwnerOfItem<typename Batch::Waits> rank_of{{batch}, owners_.view()};
    items_.executor().order_by_key(items, rank_of, order_);
    const std::uint64_t asked = order_.size();
    for (std::uint32_t rank = 0; rank < order_.keys(); ++rank) counts_[rank] = order_.count(rank);
    questions_.reserve(device_, asked, kQuestions);
    items_.each(asked, typename Requests::Ask{requests(batch)});
    return asked;
  }

  Communicator& ranks_;
  const Device& device_;
  PagedItems<E>& items_;
  RunStats& stats_;
  Router router_;
  DeviceOwnership owners_;             ///< ranks that own vertices
  OrderedItems order_;                 ///< items that ask, by the rank that is asked
  Buffer<LayerQuestion> questions_;    ///< of these
  std::vector<std::uint64_t> counts_;  ///< of them, by rank
  LayerAnswers<E> answers_;            ///< to them
  Buffer<LayerRegion> regions_;        ///< as they came
  RemoteLayerRequests<E> remote_;
};

}  // namespace sluice

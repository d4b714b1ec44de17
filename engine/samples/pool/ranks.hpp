// Pools over ranks that each own a range of partitions: a pool stays on its origin rank and asks the list's
// owner for the one target that it draws. All questions of a batch travel together, and so do the answers.
// Once for both backends: questions are put in order, answered and taken in where the pools are.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/pool/step.hpp"

namespace sluice {

/// A question: the target of an edge, which a PoolDraw finds in the list of `vertex`.
struct PoolQuestions {
  std::uint64_t* draws;
  Vertex* vertices;
  Vertex* targets;  ///< the answers
};

/// Device memory of a pool under way beside its rows: where its lists come in partitions its state, and the
/// list that it waits for. Where `ranks` share out the graph (null: no), also what they ask each other: at
/// worst all pools of all ranks wait for one of them.
inline std::uint64_t parked_pool_bytes(const Device& device, const Communicator* ranks) {
  if (!ranks) return kParkedPoolBytes;
  constexpr std::uint64_t kQuestion = sizeof(std::uint64_t) + 2 * sizeof(Vertex);
  const std::uint64_t asked = kQuestion + sizeof(std::uint32_t),
                      remote = kQuestion + paged_item_bytes(device);
  return kParkedPoolBytes + asked + static_cast<std::uint64_t>(ranks->size()) * remote;
}

/// The pools of a batch, as kernels see them.
struct WaitingPools {
  PoolState* states;
  const Vertex* waits_at;  ///< whose list each needs; kNoVertex: none

  struct Ask;
  struct Take;
};

/// Whose list a pool or a question waits for.
struct WaitsAt {
  const Vertex* vertices;
  SLUICE_HD Vertex operator()(std::uint64_t i) const { return vertices[i]; }
};

struct WaitingPools::Ask {
  WaitingPools pools;
  const std::uint32_t* order;
  PoolQuestions questions;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    if (group.rank() != 0) return true;
    questions.draws[q] = pools.states[order[q]].draw;
    questions.vertices[q] = pools.waits_at[order[q]];
    return true;
  }
};

struct WaitingPools::Take {
  WaitingPools pools;
  const std::uint32_t* order;
  const Vertex* targets;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t q, PickCounters&) const {
    if (group.rank() == 0) pools.states[order[q]].target = targets[q];
    return true;
  }
};

/// What other ranks ask of the lists here.
struct RemoteQuestions {
  template <bool kTabled>
  struct Answer {
    GraphView graph;  ///< without edges: lists are read where they are
    PoolQuestions questions;

    template <class Group>
    SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                              PickCounters&) const {
      const std::uint64_t q = present.item(k);
      if (group.rank() != 0) return true;
      const Row row = graph.row(questions.vertices[q]);
      questions.targets[q] = PoolDraw<kTabled>::target(present.page, row, questions.draws[q]);
      return true;
    }
  };
};

/// `kTabled`: are neighbours drawn by the CTPS of their list?
template <Executor E, bool kTabled>
class PoolRanks {
 public:
  /// `link` null, on all ranks: what ranks hand each other goes through their hosts. Throws BudgetError.
  PoolRanks(const ResidentGraph::Impl& graph, DeviceRanks* link, PartitionCache& cache, PagedItems<E>& items,
            RunStats& stats)
      : ranks_(*graph.paging.shard),
        graph_(graph.view),
        device_(graph.device),
        stats_(stats),
        items_(items),
        owners_(device_, owners_of_vertices(ranks_, cache.plan().partitions), kPurpose),
        order_(static_cast<std::size_t>(ranks_.size()), kPurpose),
        counts_(order_.keys()),
        router_(ranks_, device_, link, kPieceBytes) {}

  /// Asks for what `count` pools wait for, and answers what other ranks ask; false: no pool of any rank
  /// waits. All ranks call it. Throws BudgetError on all of them, or on none.
  bool ask(const WaitingPools& pools, std::uint64_t count) {
    std::uint64_t asked = 0;
    together(&ranks_, [&] { asked = pack(pools, count); });
    if (!any_left(&ranks_, asked, "pools under way")) return false;
    const std::vector<std::uint64_t> remote = router_.counts(counts_, kPurpose);
    const std::uint64_t come = std::accumulate(remote.begin(), remote.end(), std::uint64_t{0});
    together(&ranks_, [&] { remote_.reserve(device_, come); });
    exchange({{own_.draws.data(), remote_.draws.data(), sizeof(std::uint64_t)},
              {own_.vertices.data(), remote_.vertices.data(), sizeof(Vertex)}},
             counts_, remote);
    const auto own = static_cast<std::size_t>(ranks_.rank());
    stats_.entries_sent += asked - counts_[own];
    stats_.entries_received += come - remote[own];

    together(&ranks_, [&] {
      items_.visit(come, WaitsAt{remote_.vertices.data()},
                   RemoteQuestions::Answer<kTabled>{graph_, remote_.view()});
    });
    exchange({{remote_.targets.data(), own_.targets.data(), sizeof(Vertex)}}, remote, counts_);
    items_.each(asked, WaitingPools::Take{pools, order_.items.data(), own_.targets.data()});
    return true;
  }

 private:
  static constexpr const char* kPurpose = "questions of ranks";
  static constexpr std::uint64_t kPieceBytes = 4u << 20;  // questions are few, beside edges

  struct Memory {
    Buffer<std::uint64_t> draws;
    Buffer<Vertex> vertices, targets;

    void reserve(const Device& device, std::uint64_t questions) {
      draws.reserve(device, questions, kPurpose);
      vertices.reserve(device, questions, kPurpose);
      targets.reserve(device, questions, kPurpose);
    }
    PoolQuestions view() const { return {draws.data(), vertices.data(), targets.data()}; }
  };

  /// Questions in order of the rank that owns the list; returns how many.
  std::uint64_t pack(const WaitingPools& pools, std::uint64_t count) {
    items_.executor().order_by_key(count, OwnerOfItem<WaitsAt>{{pools.waits_at}, owners_.view()}, order_);
    const std::uint64_t asked = order_.size();
    for (std::uint32_t rank = 0; rank < order_.keys(); ++rank) counts_[rank] = order_.count(rank);
    own_.reserve(device_, asked);
    items_.each(asked, WaitingPools::Ask{pools, order_.items.data(), own_.view()});
    return asked;
  }

  void exchange(const std::vector<RoutedColumn>& columns, const std::vector<std::uint64_t>& send,
                const std::vector<std::uint64_t>& receive) {
    stats_.exchange_seconds += router_.send(columns, send, receive, items_.executor().stream(), kPurpose);
  }

  Communicator& ranks_;
  GraphView graph_;
  const Device& device_;
  RunStats& stats_;
  PagedItems<E>& items_;
  DeviceOwnership owners_;             ///< ranks that own vertices
  OrderedItems order_;                 ///< pools that ask, by the rank that is asked
  std::vector<std::uint64_t> counts_;  ///< of them, by rank
  Memory own_, remote_;
  Router router_;  ///< goes first, for others may not come any more
};

}  // namespace sluice

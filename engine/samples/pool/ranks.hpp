// Pools over ranks that each own a range of partitions: a pool stays on its origin rank and asks the list's
// owner for the one target that it draws. All questions of a batch travel together, and so do the answers.
#pragma once

#include <cstdint>

#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/owner_requests.hpp"
#include "engine/samples/pool/step.hpp"

namespace sluice::samples {

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

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    questions.draws[q] = pools.states[order[q]].draw;
    questions.vertices[q] = pools.waits_at[order[q]];
  }
};

struct WaitingPools::Take {
  WaitingPools pools;
  const std::uint32_t* order;
  const Vertex* targets;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t q, Lane&) const {
    pools.states[order[q]].target = targets[q];
  }
};

/// Answers a question of another rank about a list that is here.
template <bool kTabled>
struct AnswerPool {
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

/// `kTabled`: are neighbours drawn by the CTPS of their list?
template <Executor E, bool kTabled>
class PoolRanks {
 public:
  /// `link` null, on all ranks: what ranks hand each other goes through their hosts. Throws BudgetError.
  PoolRanks(const ResidentGraph::Impl& graph, DeviceRanks* link, const PartitionCache& cache,
            PagedItems<E>& items, RunStats& stats)
      : ranks_(*graph.paging.shard),
        graph_(graph.view),
        device_(graph.device),
        items_(items),
        requests_(ranks_, link, device_, items.executor(), cache.plan().partitions, stats) {}

  /// Asks for what `count` pools wait for, and answers what other ranks ask; false: no pool of any rank
  /// waits. All ranks call it. Throws BudgetError on all of them, or on none.
  bool ask(const WaitingPools& pools, std::uint64_t count) {
    requests_.open([&] { pack(pools, count); });
    if (!any_left(&ranks_, requests_.asked(), "pools under way")) return false;
    together(&ranks_, [&] { remote_.reserve(device_, requests_.remote()); });
    requests_.ask({{own_.draws.data(), remote_.draws.data(), sizeof(std::uint64_t)},
                   {own_.vertices.data(), remote_.vertices.data(), sizeof(Vertex)}});
    together(&ranks_, [&] {
      items_.visit(requests_.remote(), WaitsAt{remote_.vertices.data()},
                   AnswerPool<kTabled>{graph_, remote_.view()});
    });
    requests_.answer({{remote_.targets.data(), own_.targets.data(), sizeof(Vertex)}});
    items_.executor().for_each(requests_.asked(), {},
                               WaitingPools::Take{pools, requests_.items(), own_.targets.data()});
    return true;
  }

 private:
  struct Memory {
    Buffer<std::uint64_t> draws;
    Buffer<Vertex> vertices, targets;

    void reserve(const Device& device, std::uint64_t questions) {
      constexpr const char* kPurpose = "questions of ranks";
      draws.reserve(device, questions, kPurpose);
      vertices.reserve(device, questions, kPurpose);
      targets.reserve(device, questions, kPurpose);
    }
    PoolQuestions view() const { return {draws.data(), vertices.data(), targets.data()}; }
  };

  /// Questions in order of the rank that owns the list.
  void pack(const WaitingPools& pools, std::uint64_t count) {
    const std::uint64_t asked = requests_.order(count, WaitsAt{pools.waits_at});
    own_.reserve(device_, asked);
    items_.executor().for_each(asked, {}, WaitingPools::Ask{pools, requests_.items(), own_.view()});
  }

  Communicator& ranks_;
  GraphView graph_;
  const Device& device_;
  PagedItems<E>& items_;
  Memory own_, remote_;
  OwnerRequests<E> requests_;
};

}  // namespace sluice::samples

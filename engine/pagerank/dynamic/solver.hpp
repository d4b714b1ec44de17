// The driver of dynamic PageRank, one for all backends. It marks the vertices that a batch affects, iterates
// until ranks no longer change, and exchanges results between the ranks of a job. A store keeps ranks,
// contributions and lists of affected vertices (members) in a device's memory, and updates them there:
//
//   PartStore (part_store.hpp)       a range of vertices; the host has the edges, in memory or in a file
//   CudaWholeStore (whole_store.cu)  a GPU that holds the graph
//
// CudaWholeStore also holds the batch (kHoldsGraph), and is an exception for speed: it marks, iterates and
// spreads in successive launches without the host, which waits once an iteration, or once for several
// (rounds.cuh). Each of several ranks does all of it, except that GPUs divide the sums of many members.
// PartStore waits before it spreads, since ranks then exchange sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/changed_rows.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/stall.hpp"
#include "partition/list_reader.hpp"

namespace sluice::pagerank {

template <class Store>
class DynamicSolver final : public DynamicRanks::State {
 public:
  DynamicSolver(const Device& device, const Graph& graph, std::span<const double> initial_ranks,
                const Options& options, const RankPlace& place, Communicator& communicator)
      : device_(device),
        paging_(place.paging),
        created_link_(place.link != nullptr ? nullptr : connect_gpus(place.ranks, device)),
        peers_(communicator, device, place.link != nullptr ? place.link : created_link_.get(),
               exchange_buffer_bytes(graph.vertices(), static_cast<std::uint64_t>(communicator.size())),
               OwnedRows({in_edges_of(graph, false).offsets, graph.vertices() + 1}, &communicator).owners),
        store_(device, graph, options, peers_) {
    const auto& divisors = store_.divisors_on_host();
    const std::uint64_t first = Store::kHoldsGraph ? 0 : peers_.first();
    HostArray<std::uint8_t> dangling =
        dangling_flags(options, vertices(), first, {divisors.data(), divisors.size()});
    if (!Store::kHoldsGraph && !dangling.empty())
      Router(peers_.ranks(), peers_.owners()).share(dangling.data(), "flags of dangling vertices");
    const HostArray<FixedRank> ranks =
        starting_ranks(initial_ranks, dangling.span(), options, first, first + divisors.size());
    store_.set_ranks(ranks.span());
    store_.send_all();
    if (device.is_planning()) return;
    const FixedRank total = std::accumulate(ranks.begin(), ranks.end(), FixedRank{0});
    store_.total = sum_over_ranks(total, "the ranks of vertices");
  }

  void validate(const DynamicRankOptions& dynamic) const override {
    pagerank::validate(dynamic);
    if (dynamic.split != RankSplit::in_out && !device_.is_cuda())
      throw UsageError("--split: only on a GPU (omit it, or choose --device cuda)");
    if (!Store::kHoldsGraph && dynamic.split == RankSplit::in)
      throw UsageError(
          "--split in: on ranks and in partitions, or where the graph does not fit --device-memory, in-out "
          "splits only by in-degree (omit it, or choose none)");
    if (has_phases(dynamic.fusion) &&
        !(Store::kHoldsGraph && dynamic.all_affected && dynamic.method == RankMethod::residual_frontier))
      throw UsageError(
          "fusion of phases: only for dfr from all vertices, on a GPU that holds the graph (omit it)");
  }

  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& dynamic,
                           const RankObserver& observer) override {
    validate(dynamic);
    in_edges_of(graph, store_.options.weighted);  // must be stored
    store_.dynamic = dynamic;
    DynamicRankResult result;
    if constexpr (Store::kHoldsGraph) update(graph, changes, result);

    double begin = seconds_now();
    const std::uint64_t sent = store_.bytes_sent(), exchanged = peers_.link_bytes_sent(), read = lists_read_,
                        before = vertices();
    mark(graph, changes, switch_graph(graph, changes), before);
    result.initially_affected = affected_;
    store_.end_marks();
    count_affected();
    Lists lists(device_, graph, store_.options.weighted, peers_.first(), peers_.last(), paging_);
    lists_resident_ = Store::kHoldsGraph || peers_.sum(lists.are_resident() ? 0 : 1, kAffected) == 0;
    result.setup_seconds = seconds_now() - begin;

    begin = seconds_now();
    store_.launches = 0;
    iterate(graph, lists, result, observer);
    result.compute_seconds = seconds_now() - begin;
    if constexpr (Store::kHoldsGraph) store_.count(result);
    result.ever_affected = sum_over_ranks(store_.ever_affected(), kAffected);
    result.traffic = lists.traffic();
    result.traffic.host_to_device_bytes += store_.bytes_sent() - sent;
    result.traffic.exchanged_bytes += peers_.link_bytes_sent() - exchanged;
    result.traffic.read_bytes += lists_read_ - read;
    result.partitions_read = lists.partitions_read();
    result.in_list_iterations = std::exchange(in_list_iterations_, 0);
    store_.end_batch();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override { store_.read_ranks(first(), own_rows(), ranks); }
  std::uint64_t vertices() const override { return peers_.owners().vertices(); }
  std::uint64_t first() const override { return peers_.first(); }
  std::uint64_t own_rows() const override { return peers_.last() - peers_.first(); }

  void plan(const Graph& graph, const UpdateSize& batch, Plan& plan) override {
    if constexpr (Store::kHoldsGraph) {
      device_.memory().charge_and_release(batch_headroom(plan.state_bytes), "batches");
      plan.state_bytes -= store_.list_bytes();
    } else {
      const std::uint64_t last = peers_.last();
      peers_.grow(std::max(graph.vertices(), batch.vertices));
      store_.set_graph(graph);
      if (vertices() > graph.vertices()) store_.grow(graph, RankGrowth(graph.vertices(), vertices(), 0));
      const std::uint64_t changed = std::min(batch.changes, own_rows());
      store_.update_sources({static_cast<Vertex*>(nullptr), changed},
                            {static_cast<RankSource*>(nullptr), changed});
      store_.begin_marks();
      store_.end_marks();
      const bool weighted = store_.options.weighted;
      plan.partitions = Lists(device_, graph, weighted, first(), last, paging_).traffic().partitions;
      if (plan.partitions > 1)
        plan.transferred_bytes = edge_bytes(in_rows_of(graph, weighted, first(), last).csr.edges, weighted);
    }
  }

 private:
  using Lists = typename Store::Lists;
  static constexpr const char* kAffected = "affected vertices";

  /// A store's count, over all ranks; a store that holds the graph counts for all ranks already.
  std::uint64_t sum_over_ranks(std::uint64_t count, const char* label) const {
    return Store::kHoldsGraph ? count : peers_.sum(count, label);
  }

  // ---- the graph

  /// Applies the batch to the store's copy of the graph.
  void update(const Graph& graph, const EdgeChanges& changes, DynamicRankResult& result) {
    const double begin = seconds_now();
    result.rewrite_seconds = store_.update(graph, changes);
    result.update_seconds = seconds_now() - begin;
  }

  /// Switches to the graph after `changes`. Returns own changed sources with an added self-loop.
  std::vector<Vertex> switch_graph(const Graph& graph, std::span<const EdgeChange> changes) {
    const RankGrowth growth(vertices(), graph.vertices(), store_.options.damping);
    peers_.grow(graph.vertices());
    store_.set_graph(graph);
    if (growth.before < vertices()) {
      store_.total = sum_over_ranks(store_.grow(graph, growth), "the ranks of vertices");
      store_.send_all();
    }
    if constexpr (Store::kHoldsGraph) {
      store_.update_changed_sources();
      return {};
    } else {
      return update_sources(graph, changes);
    }
  }

  std::vector<Vertex> update_sources(const Graph& graph, std::span<const EdgeChange> changes) {
    const std::vector<Vertex> changed = changed_sources(changes, peers_);
    const std::vector<RankSource> sources = sources_of(graph, store_.options, changed, device_.threads());
    store_.update_sources(changed, sources);
    store_.send_changed_sources();
    std::vector<Vertex> added_loops;
    for (std::size_t i = 0; i < changed.size(); ++i)
      if (sources[i].loop == Loop::added) added_loops.push_back(changed[i]);
    return added_loops;
  }

  // ---- which vertices are affected

  /// Marks the initially affected vertices: targets of deletions, new vertices, changed sources with an added
  /// self-loop (its part depends on the degree), and out-neighbours of changed sources. Out-neighbours before
  /// the batch are those after it and the targets of deletions.
  void mark(const Graph& graph, std::span<const EdgeChange> changes, std::vector<Vertex> added_loops,
            std::uint64_t old_vertices) {
    store_.begin_marks();
    if (store_.method() == RankMethod::naive_dynamic || store_.dynamic.all_affected) {
      store_.pull_all();
    } else {
      if constexpr (Store::kHoldsGraph) {
        store_.mark_changed(old_vertices);
      } else {
        mark_changed(graph, changes, std::move(added_loops), old_vertices);
      }
      if (store_.method() == RankMethod::dynamic_traversal) mark_reachable(graph);
    }
    count_affected();
  }

  void mark_changed(const Graph& graph, std::span<const EdgeChange> changes, std::vector<Vertex> marked,
                    std::uint64_t old_vertices) {
    std::vector<Vertex> sources;
    for (const EdgeChange& change : changes) {
      if (change.removed > 0 && peers_.owns(change.target)) marked.push_back(change.target);
      if (sources.empty() || sources.back() != change.source) sources.push_back(change.source);
    }
    for (std::uint64_t v = std::max(old_vertices, first()); v < peers_.last(); ++v)
      marked.push_back(static_cast<Vertex>(v));
    store_.add_members(marked);
    spread(graph, sources, false);
  }

  void mark_reachable(const Graph& graph) {
    if constexpr (Store::kHoldsGraph) {
      while (store_.spread_new_members()) {
      }
    } else {
      for (;;) {
        const std::vector<Vertex> level = gather_from_ranks(store_.new_members(), graph);
        if (level.empty()) break;
        spread(graph, level, false);
      }
    }
    store_.order_members();
  }

  /// Makes own out-neighbours of `sources` members; `pushes` (residuals): adds differences to their sums.
  void spread(const Graph& graph, std::span<const Vertex> sources, bool pushes) {
    const ListReader out = out_lists(graph, store_.options.weighted, device_.threads());
    store_.spread(out, sources, pushes);
    lists_read_ += out.bytes_read();
  }

  /// The vertices of all ranks, in order of id if lists are read from a file.
  std::vector<Vertex> gather_from_ranks(std::vector<Vertex> own, const Graph& graph) {
    std::vector<Vertex> all = peers_.gather_rows(std::move(own), kAffected);
    if (graph.edge_source) std::sort(all.begin(), all.end());
    return all;
  }

  void count_affected() { affected_ = sum_over_ranks(store_.affected(), kAffected); }

  // ---- iterations

  /// Iterates until no vertex is affected, the residual is within the tolerance or stalls, or the limit is
  /// reached.
  void iterate(const Graph& graph, Lists& lists, DynamicRankResult& result, const RankObserver& observer) {
    const Options& options = store_.options;
    StallDetector stall(options, graph.edges(), vertices());
    while (affected_ > 0) {
      if (result.iterations == options.max_iterations) {
        result.end = RankEnd::limit;
        return;
      }
      const double begin = seconds_now();
      result.affected.push_back(affected_);
      const IterationTotals totals = step(graph, lists);
      if (!store_.residual() && all_pull_next(store_.dynamic, totals.pushed, graph.edges()))
        ++result.widened_iterations;
      store_.total += totals.growth;
      result.gathered_edges += totals.gathered;
      result.residual = residual_of(totals, options.norm, options.dangling, store_.total);
      result.last_l1 = totals.change.l1() / rank_scale(options.dangling, store_.total);
      result.history.push_back({++result.iterations, result.residual, seconds_now() - begin});
      if (observer) observer(result.history.back());
      if (result.residual <= options.tolerance) return;
      if (stall.stalled_after(result.residual, totals.change.l1())) {
        result.end = RankEnd::stalled;
        return;
      }
    }
  }

  /// One iteration over the affected vertices, which also finds those of the next one.
  IterationTotals step(const Graph& graph, Lists& lists) {
    IterationTotals totals;
    if constexpr (Store::kHoldsGraph) {
      totals = store_.step();
    } else {
      totals = total_of(peers_, store_.settle(lists), store_.options.norm);
      spread_changes(graph, lists, totals);
    }
    if (store_.spreads()) count_affected();
    return totals;
  }

  /// Sends changed contributions to the other ranks, and finds the vertices that are affected next.
  void spread_changes(const Graph& graph, Lists& lists, IterationTotals& totals) {
    const bool residual = store_.residual();
    const bool all_next = all_pull_next(store_.dynamic, totals.pushed, graph.edges());
    const bool by_in_lists =
        !residual && !all_next && store_.should_mark_by_in_lists(graph, totals.pushed, lists_resident_);
    std::vector<Vertex> sources;
    if (residual || (store_.spreads() && !all_next && !by_in_lists))
      sources = gather_from_ranks(store_.spreading_vertices(), graph);
    store_.send_settled(sources);
    if (!store_.spreads()) return;
    if (all_next) return store_.pull_all();
    if (residual) totals.gathered += totals.pushed;
    const std::uint64_t before = store_.affected();
    by_in_lists ? store_.mark_by_in_lists(lists) : spread(graph, sources, residual);
    in_list_iterations_ += by_in_lists;
    if (store_.drops() || store_.affected() != before) store_.order_members();
  }

  const Device& device_;
  PagingOptions paging_;
  std::unique_ptr<DeviceRanks> created_link_;
  Router peers_;
  Store store_;
  std::uint64_t affected_ = 0;    ///< members on all ranks, when they were counted last
  std::uint64_t lists_read_ = 0;  ///< bytes of out-lists that came from a file
  std::uint32_t in_list_iterations_ = 0;
  bool lists_resident_ = true;  ///< whether in-lists stay where executors read them, on all ranks
};

/// The solver for weighted or even shares.
template <template <class Share> class Store>
std::unique_ptr<DynamicRanks::State> make_dynamic_solver(const Device& device, const Graph& graph,
                                                         std::span<const double> ranks,
                                                         const Options& options, const RankPlace& place) {
  in_edges_of(graph, options.weighted);  // must be stored
  const auto make = [&]<class Share>(Share) -> std::unique_ptr<DynamicRanks::State> {
    return std::make_unique<DynamicSolver<Store<Share>>>(device, graph, ranks, options, place,
                                                         ranks_or_single(place.ranks));
  };
  return options.weighted ? make(WeightedShare{}) : make(EvenShare{});
}

}  // namespace sluice::pagerank

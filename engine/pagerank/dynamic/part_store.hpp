// The store (solver.hpp) of all vertices, or of one rank's, on the host or on a GPU that does not hold the
// graph. The host has the graph, or reads it from its file. A link brings lists of edges, and contributions
// of other ranks, to the executor's memory: HostLink (host_link.hpp) on the host, or CudaLink
// (cuda_link.cuh).
//
// If few edges lead from vertices whose change spreads, their out-lists give the vertices affected next. Else
// every vertex searches its in-list for one whose change spreads: a graph in partitions has in-lists where
// they are needed, and out-lists in host memory or in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/bits.hpp"
#include "engine/exchange/shared_bits.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/pagerank/dynamic/in_lists.hpp"
#include "engine/pagerank/dynamic/rank_state.hpp"
#include "partition/list_reader.hpp"

namespace sluice::pagerank {

template <class Share, class Link>
class PartStore : public RankState<Share, typename Link::Executor> {
 public:
  using Lists = InLists;
  static constexpr bool kHoldsGraph = false;

  /// Keeps references.
  PartStore(const Device& device, const Graph& graph, const Options& given, Router& peers)
      : State(device, given), device_(device), peers_(peers), link_(device, graph, peers, *this) {
    allocate_vertices(graph, {});
  }

  std::uint64_t bytes_sent() const { return link_.bytes_sent(); }

  /// Sends contributions of own vertices to the other ranks: of those passed to update_sources(), or of all.
  void send_changed_sources() { link_.send({changed_.data(), changed_count_}, {}); }
  void send_all() { link_.send_all(); }

  // ---- the graph

  void set_graph(const Graph& graph) { link_.set_graph(graph); }

  /// Adds vertices, some of which this rank may own. Returns the sum of own ranks.
  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    RankSources previous{this->divisors_on_host(), HostArray<Loop>(this->own_rows, "self-loops")};
    copy_to_host(device_, previous.loops.data(), this->loops.data(), previous.loops.bytes());
    const Buffer<FixedRank> old = std::move(this->ranks);
    allocate_vertices(graph, std::move(previous));
    return this->grow_ranks(rebase(old.data(), this->first), growth);
  }

  /// Sets divisors, self-loops and contributions of changed own vertices.
  void update_sources(std::span<const Vertex> changed, std::span<const RankSource> sources) {
    changed_count_ = changed.size();
    changed_.reserve(device_, changed.size(), "changed sources");
    changed_sources_.reserve(device_, changed.size(), "changed sources");
    copy_to_device(device_, changed_.data(), changed.data(), changed.size_bytes());
    copy_to_device(device_, changed_sources_.data(), sources.data(), sources.size_bytes());
    const Vertex* const vertices = changed_.data();
    const RankSource* const new_sources = changed_sources_.data();
    const auto state = this->view().vertices;
    this->for_each(changed.size(), [=] SLUICE_BODY(std::uint64_t i, Lane&) {
      state.divisors[vertices[i]] = new_sources[i].divisor, state.loops[vertices[i]] = new_sources[i].loop;
      state.update_share(vertices[i]);
    });
  }

  // ---- the affected vertices

  void add_members(std::span<const Vertex> vertices) { link_.add_members(vertices); }

  /// Vertices that became members (affected vertices) since the last call.
  std::vector<Vertex> new_members() {
    if (this->list_new_members() == 0) return {};
    this->read_append_target();
    return copy_list(kSources);
  }

  /// Makes own out-neighbours of `all`, the sources of all ranks, members. `pushes`: adds differences to
  /// sums.
  void spread(const ListReader& reader, std::span<const Vertex> all, bool pushes) {
    reader.for_each(all, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      link_.spread(lists, all.subspan(begin, end - begin), pushes);
    });
    this->read_append_target();
  }

  // ---- an iteration

  /// Updates all members, and lists those that stay members in the next iteration.
  IterationTotals settle(Lists& lists) {
    const unsigned next = this->next();
    this->clear_lists();
    this->executor.fill(this->list(kChanged).sizes, 0, sizeof(ListSizes));
    DynamicView<Share> view = this->view();
    view.precomputes_all = State::kOnHost;
    if (view.precomputes_all || lists.is_paged()) view.precomputed = rebase(precomputed_.data(), this->first);
    if (!peers_.is_single_rank()) view.changed = this->list(kChanged);
    lists.gather(*this, view);
    settle_members(*this, view);
    this->read(next);
    this->set_current(next);
    return this->last_counters().totals;
  }

  /// Own vertices whose change spreads, after an iteration.
  std::vector<Vertex> spreading_vertices() const { return copy_list(kSources); }

  /// Whether mark_by_in_lists() should find the next members, if `pushed` edges of all ranks lead from
  /// vertices whose change spreads. `resident`: on all ranks, in-lists stay where the executor reads them.
  bool should_mark_by_in_lists(const Graph& graph, std::uint64_t pushed, bool resident) const {
    if (this->out.offsets != nullptr && !graph.edge_source) return false;
    return pushed > graph.edges() / in_list_divisor(graph.edge_source != nullptr, resident);
  }
  /// Makes own out-neighbours of all ranks' vertices whose change spreads members, as spread() does.
  void mark_by_in_lists(Lists& lists) {
    std::uint32_t* const bits = spreading_bits_.data();
    this->executor.fill(bits, 0, spreading_bits_.bytes());
    const Vertex* const sources = this->list(kSources).short_rows;
    this->for_each(count_of(kSources), [=] SLUICE_BODY(std::uint64_t i, Lane&) {
      fetch_or(bits + sources[i] / kBitsOfWord, 1u << (sources[i] % kBitsOfWord));
    });
    shared_bits_->share(bits);
    std::uint8_t* const found = found_.data();
    lists.find_by_bits(*this, bits, found);
    const auto view = this->view();
    const VertexList members = this->append_target();
    this->for_each(this->own_rows, [=] SLUICE_BODY(std::uint64_t i, Lane & lane) {
      if (found[i] == 0) return;
      found[i] = 0;
      view.add_member(static_cast<Vertex>(view.first + i), true, members, lane);
    });
    this->read_append_target();
  }

  /// Sends the other ranks what an iteration changed; `all_sources` are those of all ranks.
  void send_settled(std::span<const Vertex> all_sources) {
    const RankList changed = this->residual() ? kSources : kChanged;
    if (!peers_.is_single_rank())
      link_.send({this->list(changed).short_rows, count_of(changed)}, all_sources);
  }

 private:
  using State = RankState<Share, typename Link::Executor>;
  using Lane = typename State::Lane;
  template <class T>
  using Column = typename State::template Column<T>;

  /// Allocates the state of a graph's vertices; the divisors and self-loops of the first ones are `previous`.
  void allocate_vertices(const Graph& graph, RankSources previous) {
    const RankSources sources = extend_sources(std::move(previous), graph, this->options, peers_.first(),
                                               peers_.last(), device_.threads());
    State::allocate_vertices(peers_.first(), sources.loops.size(), peers_.owners().vertices(),
                             !peers_.is_single_rank());
    precomputed_ = Column<FixedRank>(device_, this->own_rows, "ranks");
    make_marks(graph);
    this->executor.fill(precomputed_.data(), 0, precomputed_.bytes());
    copy_to_device(device_, this->divisors.data(), sources.divisors.data(), sources.divisors.bytes());
    copy_to_device(device_, this->loops.data(), sources.loops.data(), sources.loops.bytes());
  }

  /// In-lists take less time if more than one in so many edges leads from sources. Kronecker 24, a batch of
  /// 1e-4, an H200: with out-lists in host memory an iteration took 21 ms, by in-lists on the GPU 9; another
  /// with fewer sources 12 and 13. With out-lists in a file it took 74 ms to 1.3 s, by in-lists 15 to 49 ms
  /// (two ranks on the GPU). In-lists that do not stay come at 55 GB/s, where a GPU's memory gives 4,200.
  static std::uint64_t in_list_divisor(bool out_lists_in_file, bool resident) {
    if (State::kOnHost) return 64;
    if (out_lists_in_file) return resident ? 65536 : 64;
    return resident ? 32 : 4;
  }

  /// Allocates the state of mark_by_in_lists().
  void make_marks(const Graph& graph) {
    if (State::kOnHost && !graph.edge_source) return;
    constexpr const char* kLabel = "vertices whose change spreads";
    const std::uint64_t all = peers_.owners().vertices();
    shared_bits_.reset();
    owners_ = DeviceOwnership(device_, peers_.owners(), kLabel);
    shared_bits_.emplace(device_, peers_, this->executor, owners_.view(), kLabel);
    spreading_bits_ = Column<std::uint32_t>(device_, (all + kBitsOfWord - 1) / kBitsOfWord, kLabel);
    found_ = Column<std::uint8_t>(device_, this->own_rows, kLabel);
    this->executor.fill(found_.data(), 0, found_.bytes());
  }

  /// The size of a list whose work has ended. Its vertices have one class, since the host has the out-edges.
  std::uint64_t count_of(RankList list) const { return this->last_counters().lists[list].count[0]; }
  std::vector<Vertex> copy_list(RankList list) const {
    std::vector<Vertex> vertices(count_of(list));
    copy_to_host(device_, vertices.data(), this->list(list).short_rows, vertices.size() * sizeof(Vertex));
    return vertices;
  }

  const Device& device_;
  Router& peers_;
  Column<FixedRank> precomputed_;  ///< [own_rows] see DynamicView
  Column<Vertex> changed_;         ///< own changed sources of the last batch, and how many
  std::uint64_t changed_count_ = 0;
  Column<RankSource> changed_sources_;
  DeviceOwnership owners_;           ///< the ranks' ranges
  Column<std::uint32_t> spreading_bits_;  ///< bits of all vertices
  Column<std::uint8_t> found_;            ///< [own_rows] InLists::find_by_bits()
  std::optional<SharedBits<typename Link::Executor>> shared_bits_;
  Link link_;  ///< the last: its work ends before what it uses is freed
};

}  // namespace sluice::pagerank

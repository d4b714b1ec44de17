// The store of the vertices of one rank, or of all (solver.hpp), on the host or on a GPU that does not hold
// the graph. The host has the graph, or reads it from its file. A link says how lists of edges and what other
// ranks offer come to the executor's memory: HostLink (host_link.hpp), where they lie there, or CudaLink
// (cuda_link.cuh).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/pagerank/dynamic/rank_state.hpp"
#include "partition/list_reader.hpp"

namespace sluice::pagerank {

template <class Share, class Link>
class PartStore : public RankState<Share, typename Link::Executor> {
 public:
  using Lists = typename Link::Lists;
  static constexpr bool kHoldsGraph = false;

  /// Keeps references.
  PartStore(const Device& device, const Graph& graph, const Options& given, Router& peers)
      : State(device, given), device_(device), peers_(peers), link_(device, graph, peers, *this) {
    make_vertices(graph, {});
  }

  std::uint64_t bytes_sent() const { return link_.bytes_sent(); }

  /// Sends the other ranks what own vertices offer: those that were learned, or all.
  void send_learned() { link_.send({learned_.data(), learned_count_}, {}); }
  void send_all() { link_.send_all(); }

  // ---- the graph

  void see(const Graph& graph) { link_.see(graph); }

  /// More vertices, some of them own ones. Returns the sum of own ranks.
  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    RankSources known{this->divisors_on_host(), HostArray<Loop>(this->own, "self-loops")};
    copy_to_host(device_, known.loops.data(), this->loops.data(), known.loops.bytes());
    const Buffer<FixedRank> old = std::move(this->ranks);
    make_vertices(graph, std::move(known));
    return this->grow_ranks(moved(old.data(), this->first), growth);
  }

  /// Among how much changed own vertices split their ranks now.
  void learn(std::span<const Vertex> changed, std::span<const RankSource> sources) {
    learned_count_ = changed.size();
    learned_.reserve(device_, changed.size(), "changed sources");
    learned_sources_.reserve(device_, changed.size(), "changed sources");
    copy_to_device(device_, learned_.data(), changed.data(), changed.size_bytes());
    copy_to_device(device_, learned_sources_.data(), sources.data(), sources.size_bytes());
    const Vertex* const vertices = learned_.data();
    const RankSource* const known = learned_sources_.data();
    const auto at = this->view().at;
    this->over(changed.size(), [=] SLUICE_BODY(std::uint64_t i, Lane&) {
      at.divisors[vertices[i]] = known[i].divisor, at.loops[vertices[i]] = known[i].loop;
      at.share(vertices[i]);
    });
  }

  // ---- the affected vertices

  void add(std::span<const Vertex> vertices) { link_.meet(vertices); }

  /// Vertices that became members since the last call.
  std::vector<Vertex> new_members() {
    if (this->list_new_members() == 0) return {};
    this->read_grown();
    return listed(kSources);
  }

  /// Own out-neighbours of the sources of all ranks become members; if it `pushes`, their sums get the
  /// differences.
  void spread(const ListReader& reader, std::span<const Vertex> all, bool pushes) {
    reader.for_each(all, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      link_.spread(lists, all.subspan(begin, end - begin), pushes);
    });
    this->read_grown();
  }

  // ---- an iteration

  /// Renews all members, and lists those of the next iteration that are known by now.
  Settled settle(const Graph& graph, Lists& lists) {
    const unsigned next = this->next();
    this->clear_lists();
    this->executor.fill(this->list(kChanged).sizes, 0, sizeof(ListSizes));
    DynamicView<Share> view = this->view();
    view.renews_all = State::kOnHost;
    if (view.renews_all || lists.come_and_go()) view.renewed = moved(renewed_.data(), this->first);
    if (!peers_.alone()) view.changed = this->list(kChanged);
    lists.gather(*this, view);
    settle_members(*this, view);
    this->read(next);
    this->go_on_with(next);
    settled_sources_ = listed(kSources);
    Settled settled = this->counted().settled;
    if (this->drops() && this->out.offsets == nullptr) settled.pushed = out_edges_of(settled_sources_, graph);
    return settled;
  }

  /// Own vertices whose change spreads.
  const std::vector<Vertex>& spreading() const { return settled_sources_; }

  /// Sends the other ranks what an iteration changed; `all_sources` are those of all ranks.
  void send_settled(std::span<const Vertex> all_sources) {
    const RankList changed = this->residual() ? kSources : kChanged;
    if (!peers_.alone()) link_.send({this->list(changed).few, count_of(changed)}, all_sources);
  }

 private:
  using State = RankState<Share, typename Link::Executor>;
  using Lane = typename State::Lane;
  template <class T>
  using Column = typename State::template Column<T>;

  /// State of the vertices of a graph, of which the first ones are `known`.
  void make_vertices(const Graph& graph, RankSources known) {
    const RankSources sources = grown_sources(std::move(known), graph, this->options, peers_.first(),
                                              peers_.last(), device_.threads());
    State::make_vertices(peers_.first(), sources.loops.size(), peers_.owners().vertices(), !peers_.alone());
    renewed_ = Column<FixedRank>(device_, this->own, "ranks");
    this->executor.fill(renewed_.data(), 0, renewed_.bytes());
    copy_to_device(device_, this->divisors.data(), sources.divisors.data(), sources.divisors.bytes());
    copy_to_device(device_, this->loops.data(), sources.loops.data(), sources.loops.bytes());
  }

  static std::uint64_t out_edges_of(std::span<const Vertex> sources, const Graph& graph) {
    std::uint64_t edges = 0;
    for (const Vertex v : sources) edges += graph.out.offsets[v + 1] - graph.out.offsets[v];
    return edges;
  }

  /// Of a list, all of whose work has ended. All are of one class: the host has the out-edges.
  std::uint64_t count_of(RankList list) const { return this->counted().lists[list].count[0]; }
  std::vector<Vertex> listed(RankList list) const {
    std::vector<Vertex> vertices(count_of(list));
    copy_to_host(device_, vertices.data(), this->list(list).few, vertices.size() * sizeof(Vertex));
    return vertices;
  }

  const Device& device_;
  Router& peers_;
  Column<FixedRank> renewed_;  ///< [own] of vertices with a loop in their list
  Column<Vertex> learned_;     ///< own changed sources of the last batch, and how many
  std::uint64_t learned_count_ = 0;
  Column<RankSource> learned_sources_;
  std::vector<Vertex> settled_sources_;  ///< own ones of the iteration
  Link link_;                            ///< the last: what is under way ends before what it uses
};

}  // namespace sluice::pagerank

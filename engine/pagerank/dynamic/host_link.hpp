// Edges and other ranks on the host (part_store.hpp): all lie in its memory, or come there in partitions.
#pragma once

#include <cstdint>
#include <span>

#include "engine/pagerank/dynamic/in_lists.hpp"
#include "engine/pagerank/dynamic/rows_host.hpp"

namespace sluice::pagerank {

class HostInLists : public InLists {
 public:
  using InLists::InLists;

  /// The sums of all members that are not known.
  template <class Share>
  void gather(const RankState<Share, HostExecutor>& state, const DynamicView<Share>& view) {
    const VertexList members = state.members(state.now());
    if (!come_and_go()) return gather_members(state, view, members, state.sizes);
    VertexList sorted = state.members(1 - state.now());  // a list that is not in use now
    keys_.weights.resize(pages().size());
    state.executor.sort_by_key(ByPartition<Share>{view, members.few, pages().owners()}, state.affected(),
                               sorted.few, keys_);
    const auto gather_those = [&](std::uint64_t partition, const Vertex* targets, const float* weights) {
      const std::uint64_t begin = keys_.begins[partition];
      VertexList some = sorted;
      some.few += begin;
      const ListSizes sizes{{keys_.begins[partition + 1] - begin}};
      DynamicView<Share> there = view;
      there.at.in.targets = targets, there.at.in.weights = weights;
      gather_members(state, there, some, sizes);
    };
    for (std::size_t p = 0; p < pages().size(); ++p)
      if (keys_.weights[p] == 0) gather_those(p, nullptr, nullptr);  // their lists are empty
    for_each(
        keys_.weights.data(),
        [&](const SweepPage& page) { gather_those(page.partition, page.sources, page.weights); }, [] {});
  }

 private:
  template <class Share>
  struct ByPartition {
    const DynamicView<Share>& view;
    const Vertex* members;
    OwnershipView ranges;

    unsigned key(std::uint64_t i) const { return ranges.owner(members[i] - view.first); }
    Vertex item(std::uint64_t i) const { return members[i]; }
    std::uint64_t weight(std::uint64_t i) const { return view.reads_of(members[i]); }
  };

  KeyCounts keys_;
};

template <class Share>
class HostLink {
 public:
  using Executor = HostExecutor;
  using Lists = HostInLists;
  using State = RankState<Share, HostExecutor>;

  /// Keeps references.
  HostLink(const Device&, const Graph&, ChangeExchange& peers, State& state) : peers_(peers), state_(state) {}

  std::uint64_t bytes_sent() const { return 0; }

  void see(const Graph& graph) {
    state_.in = in_edges_of(graph, state_.options.weighted), state_.out = graph.out.view();
  }

  void meet(std::span<const Vertex> vertices) {
    const auto view = state_.view();
    const VertexList members = state_.grown();
    state_.over(vertices.size(),
                [=](std::uint64_t i, HostLane& lane) { view.meet(vertices[i], true, members, lane); });
  }

  void spread(const CsrView& out, std::span<const Vertex> sources, bool pushes) {
    expand_sources(state_, out, sources, pushes, state_.grown());
  }

  /// What sources of other ranks offer is what they sent before, once theirs come.
  void send(std::span<const Vertex> changed, std::span<const Vertex> all_sources) {
    for (const Vertex v : all_sources)
      if (!peers_.owns(v)) state_.sent.data()[v] = state_.shares.data()[v];
    peers_.send_changed(state_.shares.data(), changed);
  }
  void send_all() { peers_.send_all(state_.shares.data()); }

 private:
  ChangeExchange& peers_;
  State& state_;
};

}  // namespace sluice::pagerank

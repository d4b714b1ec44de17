// The link of PartStore on the host: edges are in host memory, or are brought there in partitions.
#pragma once

#include <cstdint>
#include <span>

#include "engine/pagerank/dynamic/rows_host.hpp"

namespace sluice::pagerank {

template <class Share>
class HostLink {
 public:
  using Executor = HostExecutor;
  using State = RankState<Share, HostExecutor>;

  /// Keeps references.
  HostLink(const Device&, const Graph&, Router& peers, State& state) : peers_(peers), state_(state) {}

  std::uint64_t bytes_sent() const { return 0; }

  void set_graph(const Graph& graph) {
    state_.in = in_edges_of(graph, state_.options.weighted), state_.out = graph.out.view();
    state_.out_offsets = state_.out.offsets;
  }

  void add_members(std::span<const Vertex> vertices) {
    const auto view = state_.view();
    const VertexList members = state_.append_target();
    state_.for_each(vertices.size(), [=](std::uint64_t i, HostLane& lane) {
      view.add_member(vertices[i], true, members, lane);
    });
  }

  void spread(const CsrView& out, std::span<const Vertex> sources, bool pushes) {
    expand_sources(state_, out, sources, pushes ? Spread::pushes : Spread::marks, state_.append_target());
  }

  /// Exchanges changed contributions with the other ranks; `old_shares` keeps the old ones of sources.
  void send(std::span<const Vertex> changed, std::span<const Vertex> all_sources) {
    for (const Vertex v : all_sources)
      if (!peers_.owns(v)) state_.old_shares.data()[v] = state_.shares.data()[v];
    peers_.share_changed(state_.shares.data(), changed, "changed contributions");
  }
  void send_all() { peers_.share(state_.shares.data(), "contributions"); }

 private:
  Router& peers_;
  State& state_;
};

}  // namespace sluice::pagerank

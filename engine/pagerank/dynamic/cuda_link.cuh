// The link of PartStore on a GPU that does not hold the graph (part_store.hpp). In-edges come in partitions.
// The host has the out-edges: it sends those of vertices whose change spreads, if they lead to own vertices.
// GPUs of ranks exchange contributions (device_shares.cuh).
//
// If few edges lead from vertices whose change spreads, hosts exchange the ids of these, since hosts look up
// their edges. Through the GPUs, where a round takes 15 us, each host would copy the ids of all ranks from
// its GPU. If many edges do, GPUs exchange bits, and no out-list is looked up (PartStore::mark_by_in_lists).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/threads.hpp"
#include "engine/pagerank/dynamic/device_shares.cuh"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/rows_cuda.cuh"
#include "engine/pagerank/dynamic/rows_host.hpp"

namespace sluice::pagerank {

/// Sources whose out-edges are looked up at a time.
inline constexpr std::uint64_t kSourcesPerBatch = std::uint64_t{1} << 18;

template <class Share>
class CudaLink {
 public:
  using Executor = cuda::CudaExecutor;
  using State = RankState<Share, cuda::CudaExecutor>;

  /// Keeps references.
  CudaLink(const Device& device, const Graph& graph, const Router& peers, State& state)
      : device_(device),
        peers_(peers),
        state_(state),
        parcels_(device, std::max(graph.vertices(), graph.edges())),
        shares_(device, peers, state) {}
  ~CudaLink() { cudaStreamSynchronize(stream().get()); }  // running work uses the buffers

  /// Bytes sent to this GPU.
  std::uint64_t bytes_sent() const { return parcels_.bytes_sent(); }

  /// Copies the offsets of own edges to the GPU.
  void set_graph(const Graph& graph) {
    state_.executor.wait("the last batch");  // its last list is made with the old offsets
    const CsrView in = in_edges_of(graph, state_.options.weighted), out = graph.out.view();
    state_.in = {in.vertices, 0, upload_offsets(in_offsets_, in), nullptr, nullptr};
    state_.out_offsets = graph.directed ? upload_offsets(out_offsets_, out) : state_.in.offsets;
    const std::uint64_t last = std::min(peers_.last(), in.vertices);  // a plan adds vertices without edges
    if (peers_.first() < last) state_.in.edges = in.offsets[last] - in.offsets[peers_.first()];
  }

  // ---- entries of lists

  void add_members(std::span<const Vertex> vertices) {
    parcels_.send(
        vertices.size(), ParcelUse::vertices, stream(),
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(vertices.data() + begin, vertices.data() + end, to.vertices);
        },
        [&](const Columns& at, std::uint64_t size) { expand_entries(at, size, ParcelUse::vertices); });
  }

  /// Sends the edges of `all` in lists in host memory, and traverses them on the GPU.
  void spread(const CsrView& out, std::span<const Vertex> all, bool pushes) {
    const ParcelUse use = !pushes            ? ParcelUse::vertices
                          : Share::kWeighted ? ParcelUse::weights
                                             : ParcelUse::sources;
    for (std::size_t done = 0; done < all.size(); done += kSourcesPerBatch) {
      const auto sources = all.subspan(done, std::min<std::size_t>(kSourcesPerBatch, all.size() - done));
      edge_begins_.resize(sources.size()), positions_.assign(sources.size() + 1, 0);
      for_each_source(0, sources.size(), [&](std::uint64_t i) {
        const auto edges = edges_into(out, sources[i], peers_.first(), peers_.last());
        edge_begins_[i] = edges.first, positions_[i + 1] = edges.second - edges.first;
      });
      std::partial_sum(positions_.begin(), positions_.end(), positions_.begin());
      parcels_.send(
          positions_.back(), use, stream(),
          [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
            pack(out, sources, use, to, begin, end);
          },
          [&](const Columns& at, std::uint64_t size) { expand_entries(at, size, use); });
    }
  }

  /// Handles entries that were received. Their vertices become members; with sources, differences along the
  /// edges are added to their sums.
  void expand_entries(const ParcelColumns<typename Share::Stored>& at, std::uint64_t size, ParcelUse use) {
    const Spread spread = use == ParcelUse::vertices ? Spread::marks : Spread::pushes;
    const CsrView edges{0, 0, nullptr, at.vertices, at.weights};
    const Vertex* const sources = at.sources;
    const VertexList members = state_.append_target();
    const auto view = state_.view();
    state_.for_each(size, [=] __device__(std::uint64_t i, cuda::CudaLane & lane) {
      const Difference<Share> difference(view, spread == Spread::pushes ? sources[i] : 0, spread);
      expand_edge(view, edges, i, spread, difference, members, lane);
    });
  }

  // ---- contributions

  /// See DeviceShares.
  void send(std::span<const Vertex> changed, std::span<const Vertex> /*all_sources*/) {
    shares_.send(changed);
  }
  void send_all() { shares_.send_all(); }

 private:
  using Stored = typename Share::Stored;
  using Columns = ParcelColumns<Stored>;

  const cuda::Stream& stream() const { return state_.executor.cuda_stream(); }

  /// Copies own offsets of `lists` to `offsets`. Returns them, indexed by id.
  const EdgeIndex* upload_offsets(Buffer<EdgeIndex>& offsets, const CsrView& lists) {
    const std::uint64_t own = peers_.last() - peers_.first();
    offsets.reserve(device_, own + 1, "offsets of edges");
    if (own > 0)
      copy_to_device(device_, offsets.data(), lists.offsets + peers_.first(), (own + 1) * sizeof(EdgeIndex));
    return rebase(offsets.data(), peers_.first());
  }

  template <class Body>
  void for_each_source(std::uint64_t first, std::uint64_t last, Body&& body) const {
    parallel_blocks(device_.threads(), last - first, kSourcesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = first + begin; i < first + end; ++i) body(i);
                    });
  }

  /// Writes the edges that have positions [begin, end) among those sent.
  void pack(const CsrView& out, std::span<const Vertex> sources, ParcelUse use, const Columns& to,
            std::uint64_t begin, std::uint64_t end) const {
    const auto position = [&](auto it) { return static_cast<std::uint64_t>(it - positions_.begin()); };
    const std::uint64_t low = position(std::upper_bound(positions_.begin(), positions_.end(), begin)) - 1,
                        high = position(std::lower_bound(positions_.begin(), positions_.end(), end));
    for_each_source(low, high, [&](std::uint64_t i) {
      const std::uint64_t first = std::max(positions_[i], begin), last = std::min(positions_[i + 1], end);
      if (first >= last) return;
      const EdgeIndex edge = edge_begins_[i] + (first - positions_[i]);
      const std::uint64_t at = first - begin, count = last - first;
      std::copy_n(out.targets + edge, count, to.vertices + at);
      if (use == ParcelUse::vertices) return;
      std::fill_n(to.sources + at, count, sources[i]);
      if (use == ParcelUse::weights) std::copy_n(out.weights + edge, count, to.weights + at);
    });
  }

  const Device& device_;
  const Router& peers_;
  State& state_;
  RankParcels<Stored> parcels_;
  DeviceShares<Share> shares_;
  Buffer<EdgeIndex> in_offsets_, out_offsets_;  ///< [own + 1]; an undirected graph has only the first
  std::vector<EdgeIndex> edge_begins_, positions_;  ///< of sources' edges, in lists and among those sent
};

}  // namespace sluice::pagerank

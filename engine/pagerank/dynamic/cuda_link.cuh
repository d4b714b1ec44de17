// Edges and other ranks on a GPU that does not hold the graph (part_store.hpp). In-edges come in partitions.
// The host has the out-edges: it sends those of the vertices whose change spreads, cut to those that lead to
// own vertices. Ranks of a job exchange changes from GPU to GPU where GPUs are connected (device_shares.cuh).
// Otherwise changes go through their hosts, as those of ranks without a GPU do (exchange/router.hpp), and in
// the same order; what all offer lies in host memory beside the GPU's then.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/threads.hpp"
#include "engine/pagerank/dynamic/device_shares.cuh"
#include "engine/pagerank/dynamic/in_lists.hpp"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/rows_cuda.cuh"
#include "engine/pagerank/dynamic/rows_host.hpp"

namespace sluice::pagerank {

/// Sources whose out-edges are looked up at a time.
inline constexpr std::uint64_t kSourcesSent = std::uint64_t{1} << 18;

template <class Share>
class CudaLink {
 public:
  using Executor = cuda::CudaExecutor;
  using Lists = InLists;
  using State = RankState<Share, cuda::CudaExecutor>;

  /// Keeps references. `link` null: made where GPUs are connected. All ranks call it.
  CudaLink(const Device& device, const Graph& graph, Router& peers, DeviceRanks* link, State& state)
      : device_(device),
        peers_(peers),
        state_(state),
        made_(link != nullptr ? nullptr : connect_gpus(&peers.ranks(), device)),
        link_(link != nullptr ? link : made_.get()),
        parcels_(device, std::max(graph.vertices(), graph.edges())) {
    // A plan does not connect GPUs.
    if (link_ != nullptr || (device.plans() && !peers.alone()))
      device_shares_.emplace(device, peers, link_, state);
  }
  ~CudaLink() {
    if (link_ != nullptr && std::uncaught_exceptions() > 0) link_->abort();  // others may not come any more
    cudaStreamSynchronize(stream().get());                                   // what is under way uses buffers
  }

  /// To this GPU, and to those of other ranks.
  std::uint64_t bytes_sent() const { return parcels_.bytes_sent(); }
  std::uint64_t bytes_exchanged() const { return link_ != nullptr ? link_->bytes_sent() : 0; }

  /// Takes the offsets of own in-edges.
  void see(const Graph& graph) {
    state_.executor.wait("the last batch");  // its last list is made by the offsets that it had
    const std::uint64_t own = peers_.last() - peers_.first();
    const CsrView in = in_edges_of(graph, state_.options.weighted);
    offsets_.reserve(device_, own + 1, "offsets of in-edges");
    state_.in = {in.vertices, 0, moved(offsets_.data(), peers_.first()), nullptr, nullptr};
    if (own == 0) return;
    copy_to_device(device_, offsets_.data(), in.offsets + peers_.first(), (own + 1) * sizeof(EdgeIndex));
    const std::uint64_t last = std::min(peers_.last(), in.vertices);  // of a plan, vertices that come later
    state_.in.edges = in.offsets[last] - in.offsets[peers_.first()];
  }

  // ---- entries of lists

  void meet(std::span<const Vertex> vertices) {
    parcels_.send(
        vertices.size(), ParcelUse::vertices, stream(),
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(vertices.data() + begin, vertices.data() + end, to.vertices);
        },
        [&](const Columns& at, std::uint64_t size) { meet(at, size, ParcelUse::vertices); });
  }

  /// Goes along lists that are in host memory.
  void spread(const CsrView& out, std::span<const Vertex> all, bool pushes) {
    const ParcelUse use = !pushes            ? ParcelUse::vertices
                          : Share::kWeighted ? ParcelUse::weights
                                             : ParcelUse::sources;
    for (std::size_t done = 0; done < all.size(); done += kSourcesSent) {
      const auto sources = all.subspan(done, std::min<std::size_t>(kSourcesSent, all.size() - done));
      begins_.resize(sources.size()), places_.assign(sources.size() + 1, 0);
      over_sources(0, sources.size(), [&](std::uint64_t i) {
        const auto edges = edges_into(out, sources[i], peers_.first(), peers_.last());
        begins_[i] = edges.first, places_[i + 1] = edges.second - edges.first;
      });
      std::partial_sum(places_.begin(), places_.end(), places_.begin());
      parcels_.send(
          places_.back(), use, stream(),
          [&](const Columns& to, std::uint64_t from, std::uint64_t until) {
            pack(out, sources, use, to, from, until);
          },
          [&](const Columns& at, std::uint64_t size) { meet(at, size, use); });
    }
  }

  /// Entries that have come: vertices become members; with sources, who are the ends of edges from them, by
  /// differences.
  void meet(const ParcelColumns<typename Share::Stored>& at, std::uint64_t size, ParcelUse use) {
    const bool pushes = use != ParcelUse::vertices;
    const CsrView edges{0, 0, nullptr, at.vertices, at.weights};
    const Vertex* const sources = at.sources;
    const VertexList members = state_.grown();
    const auto view = state_.view();
    state_.over(size, [=] __device__(std::uint64_t i, cuda::CudaLane & lane) {
      const Difference<Share> difference(view, pushes ? sources[i] : 0, pushes);
      expand_edge(view, edges, i, pushes, difference, members, lane);
    });
  }

  // ---- what vertices offer

  /// Sends the other ranks what own vertices offer, of which those of `changed`, in the GPU's memory, are
  /// others than before, and receives theirs. All ranks call it.
  void send(std::span<const Vertex> changed, std::span<const Vertex> /*all_sources*/) {
    if (peers_.alone()) return;
    if (device_shares_) return device_shares_->send(changed);
    std::vector<Vertex> rows(changed.size());
    copy_to_host(device_, rows.data(), changed.data(), changed.size_bytes());
    peers_.template sends_all<Stored>(rows.size()) ? read_own() : read(rows);
    ReceivedRows received;
    peers_.share_changed(host_.data(), rows, "changed contributions", &received);
    receive(received);
  }

  /// The same where all are others, or there are more vertices.
  void send_all() {
    if (peers_.alone()) return;
    if (link_ != nullptr) return device_shares_->send_all();
    host_.reserve(device_, peers_.owners().vertices(), "contributions of all ranks");
    if (device_.plans()) return;
    read_own();
    peers_.share(host_.data(), "contributions");
    receive(peers_.all_of_others());
  }

  /// What `vertices` offer goes to `values`.
  void list_shares(const Vertex* vertices, typename Share::Stored* values, std::uint64_t size) {
    const auto shares = state_.shares.data();
    state_.over(size, [=] __device__(std::uint64_t i, cuda::CudaLane&) { values[i] = shares[vertices[i]]; });
  }

 private:
  using Stored = typename Share::Stored;
  using Columns = ParcelColumns<Stored>;

  const cuda::Stream& stream() const { return state_.executor.queue(); }

  template <class Body>
  void over_sources(std::uint64_t first, std::uint64_t last, Body&& body) const {
    parallel_blocks(device_.threads(), last - first, kSourcesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = first + begin; i < first + end; ++i) body(i);
                    });
  }

  /// Writes the edges that are sent in places [from, until).
  void pack(const CsrView& out, std::span<const Vertex> sources, ParcelUse use, const Columns& to,
            std::uint64_t from, std::uint64_t until) const {
    const auto place = [&](auto it) { return static_cast<std::uint64_t>(it - places_.begin()); };
    const std::uint64_t low = place(std::upper_bound(places_.begin(), places_.end(), from)) - 1,
                        high = place(std::lower_bound(places_.begin(), places_.end(), until));
    over_sources(low, high, [&](std::uint64_t i) {
      const std::uint64_t first = std::max(places_[i], from), last = std::min(places_[i + 1], until);
      if (first >= last) return;
      const EdgeIndex edge = begins_[i] + (first - places_[i]);
      const std::uint64_t at = first - from, count = last - first;
      std::copy_n(out.targets + edge, count, to.vertices + at);
      if (use == ParcelUse::vertices) return;
      std::fill_n(to.sources + at, count, sources[i]);
      if (use == ParcelUse::weights) std::copy_n(out.weights + edge, count, to.weights + at);
    });
  }

  void read_own() {
    state_.executor.wait("contributions");
    copy_to_host(device_, host_.data() + peers_.first(), state_.shares.data() + peers_.first(),
                 (peers_.last() - peers_.first()) * sizeof(Stored));
  }

  void read(std::span<const Vertex> changed) {
    parcels_.fetch(
        changed.size(), stream(),
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(changed.data() + begin, changed.data() + end, to.vertices);
        },
        [&](const Columns& at, std::uint64_t size) { list_shares(at.vertices, at.values, size); },
        [&](const Columns& host, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) host_.data()[changed[i]] = host.values[i - begin];
        });
  }

  void receive(const ReceivedRows& received) {
    const auto copy = [&](Stored* to, const Stored* from, std::uint64_t count, cudaMemcpyKind kind) {
      cuda::check(cudaMemcpyAsync(to, from, count * sizeof(Stored), kind, stream().get()),
                  "copying contributions");
    };
    for (const auto& [begin, end] : received.ranges) {
      Stored* const shares = state_.shares.data() + begin;
      copy(state_.sent.data() + begin, shares, end - begin, cudaMemcpyDeviceToDevice);
      copy(shares, host_.data() + begin, end - begin, cudaMemcpyHostToDevice);
    }
    parcels_.send(
        received.rows.size(), ParcelUse::values, stream(),
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) {
            to.vertices[i - begin] = received.rows[i];
            to.values[i - begin] = host_.data()[received.rows[i]];
          }
        },
        [&](const Columns& at, std::uint64_t size) { take_shares(state_, at, size); });
    state_.executor.wait("contributions of other ranks");  // the copy may change again
  }

  const Device& device_;
  Router& peers_;
  State& state_;
  std::unique_ptr<DeviceRanks> made_;
  DeviceRanks* link_;  ///< null: alone, or GPUs are not connected
  RankParcels<Stored> parcels_;
  std::optional<DeviceShares<Share>> device_shares_;  ///< where there is a link
  Buffer<EdgeIndex> offsets_;                         ///< [own + 1] of in-edges
  Staging<Stored> host_;                    ///< [vertices] what all offer; of ranks that are not connected
  std::vector<EdgeIndex> begins_, places_;  ///< of sources' edges in their lists, and among what is sent
};

}  // namespace sluice::pagerank

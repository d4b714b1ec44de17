// What a fused solver works on: a whole graph on one GPU, or a rank's part of one, whose kernels hand each
// other what other ranks' vertices are sent (peers.cuh).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/resident_cuda/peers.cuh"
#include "engine/acc/rounds/adjacency.hpp"
#include "engine/acc/rounds/vertex_states.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/device_ownership.hpp"

namespace sluice::acc {

template <class State>
class WholePart {
 public:
  using Peers = NoPeers;

  WholePart(const Device& device, const AccGraph& graph, bool = false)
      : out_(graph.out()), in_(graph.in()), states_(device, graph.vertices(), "vertex states") {}

  /// The lists of own vertices: offsets[v] is where that of v begins.
  const CsrView& out() const { return out_; }
  /// Their in-lists; without offsets where there are none.
  const CsrView& in() const { return in_; }
  std::uint64_t first() const { return 0; }
  State* states() const { return states_.data(); }
  Peers peers() const { return {}; }
  std::uint64_t largest_degree() const { return 0; }
  /// Of the blocks that a kernel could have.
  unsigned own_blocks(unsigned blocks) const { return blocks; }
  const std::uint32_t* boundary() const { return nullptr; }

  template <class Program>
  void begin(const Program&) {}
  void wait(const cuda::Stream& stream, const char* label) { stream.wait(label); }
  void finish(AccStats&) {}

 private:
  CsrView out_, in_;
  Buffer<State> states_;
};

/// Marks a vertex of [first, last) that has a neighbour outside. Long lists are no cluster's work.
struct MarkBoundary {
  CsrView lists;
  std::uint64_t first, last;
  std::uint32_t* bits;

  __device__ void operator()(std::uint64_t i, cuda::CudaLane&) const {
    const EdgeIndex begin = lists.offsets[first + i], end = lists.offsets[first + i + 1];
    if (end - begin >= cuda::kWarpDegree) return;
    for (EdgeIndex e = begin; e < end; ++e)
      if (lists.targets[e] - first >= last - first)
        return static_cast<void>(take_bit(bits, static_cast<Vertex>(first + i)));
  }
};

template <class State>
class PeerPart {
 public:
  using Peers = acc::Peers<State>;

  /// All lists of the rank are on the device, where it `pulls` and they fit in-lists, too. Keeps references.
  /// Throws BudgetError.
  PeerPart(const Device& device, const AccGraph& graph, bool pulls = false)
      : device_(device),
        rows_(graph.rank_part()),
        executor_(device, rows_.lists().edges),
        owners_(device, rows_.owners(), "ranges of ranks"),
        states_(device, rows_, executor_, graph.vertices()),
        listed_(device, graph.vertices(), "worklists"),
        marks_(device, (graph.vertices() + kBitsOfWord - 1) / kBitsOfWord, "vertices of other ranks"),
        state_(device, 1, "messages of ranks"),
        own_memory_(device, own_bytes(rows_), "messages of ranks"),
        stop_(device, 1, "messages of ranks"),
        lists_(device, rows_, rows_.out(), 0) {
    if (lists_.paged())
      throw BudgetError("a GPU has no memory for all lists of its rank beside their states");
    out_ = view_of(lists_, rows_.lists());
    if (pulls && graph.has_in_edges()) make_in_lists();
  }

  /// Connects the ranks. False, on all of them: their GPUs do not reach each other's memory.
  bool connect() {
    *stop_.data() = 0;
    executor_.fill(marks_.data(), 0, marks_.bytes());
    executor_.fill(state_.data(), 0, state_.bytes());
    executor_.fill(own_memory_.data(), 0, Peers::kMessageBytes);
    executor_.wait("connecting GPUs");
    // Rounds pull on all ranks, or on none.
    std::uint64_t most[] = {in_.offsets == nullptr ? 1u : 0u, rows_.largest_degree()};
    rows_.ranks().all_reduce(most, Reduce::max, "whether rounds can pull");
    if (most[0] != 0) in_ = {};
    largest_degree_ = most[1];
    peers_ = PeerMemory::open(rows_.ranks(), own_memory_.data());
    return peers_ != nullptr;
  }

  const CsrView& out() const { return out_; }
  const CsrView& in() const { return in_; }
  std::uint64_t first() const { return rows_.first(); }
  State* states() const { return states_.data(); }
  Peers peers() const {
    Peers view;
    view.own = static_cast<unsigned>(rows_.ranks().rank());
    view.ranks = static_cast<unsigned>(rows_.ranks().size());
    view.first = rows_.first(), view.last = rows_.last(), view.vertices = states_.size();
    view.owners = owners_.view();
    if (peers_) std::ranges::copy(peers_->of_ranks(), view.memory);
    view.listed = listed_.data(), view.marks = marks_.data();
    view.state = state_.data(), view.stop = stop_.data();
    return view;
  }
  /// Of all ranks.
  std::uint64_t largest_degree() const { return largest_degree_; }
  /// Threads of one process may be ranks on the same GPU: their kernels run side by side.
  unsigned own_blocks(unsigned blocks) const {
    return std::max(blocks / (peers_ ? peers_->sharing() : 1), 1u);
  }

  /// Bits of own vertices that have another rank's as neighbour; of long lists any. Made when first asked
  /// for.
  const std::uint32_t* boundary() {
    if (boundary_.empty()) {
      boundary_ = Buffer<std::uint32_t>(device_, marks_.size(), "vertices at other ranks' ranges");
      executor_.fill(boundary_.data(), 0, boundary_.bytes());
      executor_.for_each(rows_.last() - rows_.first(), {},
                         MarkBoundary{out_, rows_.first(), rows_.last(), boundary_.data()});
      executor_.wait("vertices at other ranks' ranges");
    }
    return boundary_.data();
  }

  /// States to begin with. All ranks call it, and what follows.
  template <class Program>
  void begin(const Program& program) {
    states_.begin(lists_.offsets(), program, !SumProgram<Program>);
    executor_.wait("the states to begin with");  // kernels go to another stream
  }
  /// Kernels that wait for those of a rank that has failed are stopped.
  void wait(const cuda::Stream& stream, const char* label) {
    try {
      rows_.link()->wait(stream.get(), label);
    } catch (...) {
      store(stop_.data(), 1u);
      cudaStreamSynchronize(stream.get());
      throw;
    }
  }
  /// Makes all states true on all ranks.
  void finish(AccStats& stats) {
    PeerState state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    stats.exchanged_bytes += state.sent_bytes;
    lists_.lists().add_traffic(stats);
    if (in_lists_) in_lists_->lists().add_more_traffic(stats);
    states_.share("the results");
    peers_.reset();
    rows_.ranks().barrier("the results");
  }

 private:
  static std::uint64_t own_bytes(const RankPart& rows) {
    const auto ranks = static_cast<std::uint64_t>(rows.ranks().size());
    return std::max<std::uint64_t>(Peers::bytes(rows.last() - rows.first(), rows.owners().vertices(), ranks),
                                   PeerMemory::kLeastBytes);
  }
  CsrView view_of(const Adjacency& lists, const CsrView& rows) const {
    const SweepPage page = lists.lists().whole();
    return {rows.vertices, rows.edges, lists.offsets() - rows_.first(), page.sources, page.weights};
  }
  /// Without them rounds push.
  void make_in_lists() {
    if (rows_.symmetric()) {
      in_ = out_;
    } else if (!rows_.has_pages(rows_.in())) {
      lack_of_memory([&] { in_lists_.emplace(device_, rows_, rows_.in(), 0); });
      if (in_lists_ && in_lists_->paged()) in_lists_.reset();
      if (in_lists_) in_ = view_of(*in_lists_, rows_.in().in);
    }
  }

  const Device& device_;
  const RankPart& rows_;
  cuda::CudaExecutor executor_;
  DeviceOwnership owners_;
  VertexStates<State, cuda::CudaExecutor> states_;
  Buffer<Vertex> listed_;
  Buffer<std::uint32_t> marks_, boundary_;
  Buffer<PeerState> state_;
  Buffer<std::byte> own_memory_;
  Staging<std::uint32_t> stop_;
  Adjacency lists_;
  std::optional<Adjacency> in_lists_;
  std::unique_ptr<PeerMemory> peers_;
  CsrView out_, in_;
  std::uint64_t largest_degree_ = 0;
};

}  // namespace sluice::acc

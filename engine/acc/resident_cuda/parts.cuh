// The part of a graph that a fused solver processes: a whole graph on one GPU, or a rank's part, whose
// kernels send each other active vertices (peers.cuh). A PeerPart has lists of all vertices, but only edges
// to own vertices.
//
// Measured on two H100s, Kronecker 24, against ranks that send each other the targets of edges: bfs 1.9 ms
// and 3.6, sssp 44 and 72, k-core 53 and 98 (commit fde18e4e).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/resident_cuda/peers.cuh"
#include "engine/acc/rounds/adjacency.hpp"
#include "engine/acc/rounds/vertex_states.hpp"
#include "engine/core/search.hpp"
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

  /// Lists along which active vertices send; that of v begins at offsets[v].
  const CsrView& out() const { return out_; }
  /// Offsets of own vertices' complete lists, including edges to other ranks' vertices.
  const EdgeIndex* degrees() const { return out_.offsets; }
  /// Own vertices' in-lists; offsets are null if there are none.
  const CsrView& in() const { return in_; }
  std::uint64_t vertices() const { return out_.vertices; }
  std::uint64_t first() const { return 0; }
  std::uint64_t own_vertices() const { return out_.vertices; }
  State* states() const { return states_.data(); }
  Peers peers() const { return {}; }
  /// The number of blocks to launch, out of `blocks` that could be resident.
  unsigned launch_blocks(unsigned blocks) const { return blocks; }

  template <class Program>
  void begin(const Program&) {}
  void wait(const cuda::Stream& stream, const char* label) { stream.wait(label); }
  void finish(AccStats&) {}

 private:
  CsrView out_, in_;
  Buffer<State> states_;
};

struct EdgeRange {
  EdgeIndex begin, end;
};

/// This rank's lists, and the range of another rank's vertices.
struct ListCut {
  CsrView lists;
  std::uint64_t first;       ///< first own vertex
  std::uint64_t begin, end;  ///< the other rank's vertices

  /// Own vertex i's edges to the other rank's vertices. Lists are ascending.
  __device__ EdgeRange edges(std::uint64_t i) const {
    const EdgeIndex list_begin = lists.offsets[first + i], list_end = lists.offsets[first + i + 1];
    const auto below = [&](EdgeIndex from, std::uint64_t bound) {
      return count_while(list_end - from, [&](EdgeIndex e) { return lists.targets[from + e] < bound; });
    };
    const EdgeIndex cut_begin = list_begin + below(list_begin, begin);
    return {cut_begin, cut_begin + below(cut_begin, end)};
  }
};

/// Counts a cut's edges of each own vertex; sets bits in `marks`, unless null, for vertices that have any.
struct CountCut {
  ListCut cut;
  std::uint64_t* sizes;
  std::uint32_t* marks;

  __device__ void operator()(std::uint64_t i, cuda::CudaLane&) const {
    const auto edges = cut.edges(i);
    sizes[i] = edges.end - edges.begin;
    if (marks != nullptr && edges.begin < edges.end) set_bit(marks, static_cast<Vertex>(cut.first + i));
  }
};

/// Copies a cut's edges to the other rank's memory, one warp for each vertex.
struct CopyCut {
  ListCut cut;
  const std::uint64_t* positions;  ///< [own vertices]
  EdgeIndex base;               ///< first place of this rank's edges there
  EdgeIndex* offsets;           ///< in the other rank's memory
  Vertex* targets;
  float* weights;

  __device__ void operator()(std::uint64_t thread, cuda::CudaLane&) const {
    const std::uint64_t i = thread / cuda::kWarp;
    const auto edges = cut.edges(i);
    const EdgeIndex target = base + positions[i];
    if (thread % cuda::kWarp == 0) offsets[cut.first + i] = target;
    for (EdgeIndex e = edges.begin + thread % cuda::kWarp; e < edges.end; e += cuda::kWarp) {
      targets[target + (e - edges.begin)] = cut.lists.targets[e];
      if (weights != nullptr) weights[target + (e - edges.begin)] = cut.lists.weights[e];
    }
  }
};

template <class Program>
class PeerPart {
 public:
  using State = typename Program::State;
  /// A vote's values do not depend on the states of the sending vertices.
  using Peers = acc::Peers<State, !VoteProgram<Program>>;

  /// Uploads all lists of the rank; also in-lists, if it `pulls` and they fit. Keeps references. Throws
  /// BudgetError.
  PeerPart(const Device& device, const AccGraph& graph, bool pulls = false)
      : device_(device),
        part_(graph.rank_part()),
        executor_(device),
        owners_(device, part_.owners(), "ranges of ranks"),
        states_(device, part_, executor_, graph.vertices()),
        boundary_(device, words_of(0, graph.vertices()), "vertices with neighbours of other ranks"),
        state_(device, 1, "messages of ranks"),
        stop_(device, 1, "messages of ranks"),
        lists_(device, part_, part_.out(), 0) {
    if (lists_.paged())
      throw BudgetError("a GPU's memory cannot hold all lists and vertex states of its rank");
    if (pulls && graph.has_in_edges()) make_in_lists();
    // A plan assumes as many edges to own vertices as from them.
    if (device.is_planning()) allocate_memory(part_.lists().edges);
  }

  /// Connects the ranks. Returns false, on all ranks, if their GPUs cannot access each other's memory, or
  /// lack memory for the edges that lead to their vertices. All ranks call it.
  bool connect() {
    *stop_.data() = 0;
    executor_.fill(boundary_.data(), 0, boundary_.bytes());
    executor_.fill(state_.data(), 0, state_.bytes());
    // Rounds pull on all ranks, or on none.
    if (any_left(&part_.ranks(), in_.offsets == nullptr ? 1 : 0, "whether rounds can pull")) in_ = {};
    return share_lists();
  }

  const CsrView& out() const { return out_; }
  const EdgeIndex* degrees() const { return lists_.offsets() - part_.first(); }
  const CsrView& in() const { return in_; }
  std::uint64_t vertices() const { return states_.size(); }
  std::uint64_t first() const { return part_.first(); }
  std::uint64_t own_vertices() const { return part_.last() - part_.first(); }
  State* states() const { return states_.data(); }
  Peers peers() const {
    Peers view;
    view.own_rank = own_rank(), view.ranks = ranks();
    view.first = part_.first(), view.vertices = vertices();
    view.owners = owners_.view();
    if (peers_) std::ranges::copy(peers_->by_rank(), view.memory);
    view.boundary = boundary_.data();
    view.state = state_.data(), view.stop = stop_.data();
    return view;
  }
  /// Ranks may be threads of one process on the same GPU: their kernels then run side by side.
  unsigned launch_blocks(unsigned blocks) const {
    return std::max(blocks / (peers_ ? peers_->ranks_on_gpu() : 1), 1u);
  }

  /// Sets initial states. All ranks call it, and the functions below.
  void begin(const Program& program) {
    states_.begin(lists_.offsets(), program, false);
    executor_.wait("initial states");  // kernels use another stream
  }
  /// Waits for the stream. If another rank has failed, stops own kernels, which wait for its messages.
  void wait(const cuda::Stream& stream, const char* label) {
    try {
      part_.link()->wait(stream.get(), label);
    } catch (...) {
      store(stop_.data(), 1u);
      cudaStreamSynchronize(stream.get());
      throw;
    }
  }
  /// Sends every state from its owner to all ranks.
  void finish(AccStats& stats) {
    PeerState state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    stats.exchanged_bytes += state.sent_bytes + sent_bytes_;
    stats.prepared_bytes += sent_bytes_;
    if (in_lists_) stats.add_traffic(in_lists_->lists().traffic());
    stats.add_traffic(lists_.lists().traffic());
    states_.share("the results");
    peers_.reset();
    part_.ranks().barrier("the results");
  }

 private:
  /// Lists in a rank's memory, after the memory of swaps.
  struct Lists {
    EdgeIndex* offsets = nullptr;  ///< [vertices + 1]
    Vertex* targets = nullptr;
    float* weights = nullptr;
  };

  unsigned own_rank() const { return static_cast<unsigned>(part_.ranks().rank()); }
  unsigned ranks() const { return static_cast<unsigned>(part_.ranks().size()); }

  Lists lists_in(std::byte* memory, std::uint64_t edges) const {
    Lists lists;
    lists.offsets = reinterpret_cast<EdgeIndex*>(memory + Peers::bytes(vertices(), ranks()));
    lists.targets = reinterpret_cast<Vertex*>(lists.offsets + vertices() + 1);
    if (part_.weighted()) lists.weights = reinterpret_cast<float*>(lists.targets + edges);
    return lists;
  }
  /// Allocates memory for `edges` edges that lead to own vertices.
  void allocate_memory(std::uint64_t edges) {
    const std::uint64_t bytes = Peers::bytes(vertices(), ranks()) + (vertices() + 1) * sizeof(EdgeIndex) +
                                edge_bytes(edges, part_.weighted());
    memory_ = Buffer<std::byte>(device_, std::max<std::uint64_t>(bytes, PeerMemory::kMinBytes),
                                "edges that lead to the rank's vertices");
  }

  ListCut cut_for(unsigned rank) const {
    const auto begins = part_.owners().begins();
    return {view_of(lists_, part_.lists()), part_.first(), begins[rank], begins[rank + 1]};
  }

  /// Every rank copies its own vertices' edges to the ranks that own their targets.
  bool share_lists() {
    constexpr const char* kLabel = "edges of ranks";
    Communicator& communicator = part_.ranks();
    const std::uint64_t rows = own_vertices();
    std::vector<std::uint64_t> edges(std::size_t{ranks()} * ranks(), 0);  ///< [from][to]
    Buffer<std::uint64_t> positions;
    const auto count = [&] {
      positions = Buffer<std::uint64_t>(device_, rows + 1, kLabel);
      for (unsigned r = 0; r < ranks(); ++r) edges[own_rank() * ranks() + r] = position_edges(r, positions);
    };
    if (!all_have_memory(communicator, kLabel, count)) return false;
    communicator.all_reduce(edges, Reduce::sum, kLabel);
    std::vector<std::uint64_t> edge_totals(ranks(), 0), first_edges(ranks(), 0);
    for (unsigned sender = 0; sender < ranks(); ++sender) {
      for (unsigned r = 0; r < ranks(); ++r) {
        if (sender == own_rank()) first_edges[r] = edge_totals[r];
        edge_totals[r] += edges[sender * ranks() + r];
      }
    }
    if (!all_have_memory(communicator, kLabel, [&] { allocate_memory(edge_totals[own_rank()]); }))
      return false;
    executor_.fill(memory_.data(), 0, Peers::bytes(vertices(), ranks()));
    executor_.wait(kLabel);
    peers_ = PeerMemory::open(communicator, memory_.data());
    if (peers_ == nullptr) return false;
    for (unsigned r = 0; r < ranks(); ++r) {
      position_edges(r, positions);
      const Lists remote_lists = lists_in(peers_->by_rank()[r], edge_totals[r]);
      executor_.for_each(rows * cuda::kWarp, {},
                         CopyCut{cut_for(r), positions.data(), first_edges[r], remote_lists.offsets,
                                 remote_lists.targets, remote_lists.weights});
      const std::uint64_t sent = edges[own_rank() * ranks() + r];
      if (r != own_rank()) sent_bytes_ += rows * sizeof(EdgeIndex) + edge_bytes(sent, part_.weighted());
    }
    const Lists own_lists = lists_in(memory_.data(), edge_totals[own_rank()]);
    executor_.wait(kLabel);
    copy_to_device(device_, own_lists.offsets + vertices(), &edge_totals[own_rank()],
                   sizeof edge_totals[own_rank()]);
    // Ranks on one GPU must not free memory once another's kernel waits for theirs: that waits for the
    // kernel.
    positions = {};
    communicator.barrier(kLabel);
    out_ = {vertices(), edge_totals[own_rank()], own_lists.offsets, own_lists.targets, own_lists.weights};
    return true;
  }

  /// Places each own vertex's edges to a rank among all such edges; returns the number of edges.
  std::uint64_t position_edges(unsigned rank, Buffer<std::uint64_t>& positions) {
    executor_.for_each(
        own_vertices(), {},
        CountCut{cut_for(rank), positions.data(), rank == own_rank() ? nullptr : boundary_.data()});
    return executor_.exclusive_sum(positions.data(), own_vertices());
  }

  CsrView view_of(const Adjacency& lists, const CsrView& rows) const {
    const SweepPage page = lists.lists().whole();
    return {rows.vertices, rows.edges, lists.offsets() - part_.first(), page.sources, page.weights};
  }
  /// Without in-lists, rounds push.
  void make_in_lists() {
    if (part_.symmetric()) {
      in_ = view_of(lists_, part_.lists());
    } else if (!part_.has_pages(part_.in())) {
      catch_budget_error([&] { in_lists_.emplace(device_, part_, part_.in(), 0); });
      if (in_lists_ && in_lists_->paged()) in_lists_.reset();
      if (in_lists_) in_ = view_of(*in_lists_, part_.in().csr);
    }
  }

  const Device& device_;
  const RankPart& part_;
  cuda::CudaExecutor executor_;
  DeviceOwnership owners_;
  VertexStates<State, cuda::CudaExecutor> states_;
  Buffer<std::uint32_t> boundary_;
  Buffer<PeerState> state_;
  Buffer<std::byte> memory_;
  Staging<std::uint32_t> stop_;
  Adjacency lists_;
  std::optional<Adjacency> in_lists_;
  std::unique_ptr<PeerMemory> peers_;
  CsrView out_, in_;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace sluice::acc

// The lists of ranks whose GPUs access each other's memory, in which other ranks find reverse edges; and the
// numbers of edges between ranks. Ten rounds of Kronecker 24 with messages on GPUs take two H200s 176 ms,
// 1.82 times as fast as one (docs/performance.md). Messages through hosts were not measured for comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/resident_kernels.cuh"
#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/cuda_executor.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/sweep_lists.hpp"

namespace sluice::acc {

/// Numbers own vertices' edges to another rank, one warp for each vertex.
struct NumberCut {
  ListCut cut;
  const std::uint64_t* edges_before;  ///< [own vertices] such edges of all vertices before
  std::uint32_t* indices;

  __device__ void operator()(std::uint64_t thread, cuda::CudaLane&) const {
    const std::uint64_t i = thread / cuda::kWarp;
    const EdgeRange edges = cut.edges(i);
    for (EdgeIndex e = edges.begin + thread % cuda::kWarp; e < edges.end; e += cuda::kWarp)
      indices[e] = static_cast<std::uint32_t>(edges_before[i] + (e - edges.begin));
  }
};

class PeerLists {
 public:
  /// For another rank's messages: where the copies of this rank's begin, and how many it has, with all
  /// copies.
  struct Copies {
    EdgeIndex begin, edges;
  };

  /// Keeps references. Throws BudgetError.
  PeerLists(const Device& device, const RankPart& part)
      : device_(device),
        part_(part),
        rows_(part.last() - part.first()),
        edges_(part.lists().edges),
        executor_(device),
        owners_(device, part.owners(), "ranges of ranks"),
        edges_before_(device, rows_ + 1, "edges to other ranks"),
        memory_(device,
                std::max<std::uint64_t>(bytes_of(rows_, edges_, part.weighted()), PeerMemory::kMinBytes),
                "lists of ranks") {}

  /// Returns false, on all ranks, if GPUs cannot access each other's memory, or cannot number all edges. All
  /// ranks call it, and the functions below.
  bool connect() {
    upload_lists();
    peers_ = PeerMemory::open(part_.ranks(), memory_.data());
    if (peers_ == nullptr) return false;
    counts_.assign(ranks() * ranks(), 0);
    std::vector<std::uint64_t> edges(ranks(), 0);
    edges[own_rank()] = edges_;
    for (unsigned r = 0; r < ranks(); ++r)
      if (r != own_rank()) counts_[own_rank() * ranks() + r] = number_edges(r);
    executor_.wait("edges to other ranks");
    part_.ranks().all_reduce(counts_, Reduce::sum, "edges of ranks");
    part_.ranks().all_reduce(edges, Reduce::sum, "edges of ranks");
    all_edges_ = edges;
    if (!numbers_fit()) {
      close();
      return false;
    }
    return true;
  }

  /// Calls use(ReverseLists) for every rank; its lists are valid until use() returns. Throws BudgetError.
  template <class Use>
  void for_each_rank(Use&& use) {
    EdgeIndex copies = edges_;
    for (unsigned r = 0; r < ranks(); ++r) {
      const std::uint64_t rows = part_.owners().count(r);
      const auto first = static_cast<Vertex>(part_.owners().begin(r));
      if (r == own_rank()) {
        use(ReverseLists{lists(), first, nullptr, 0});
        continue;
      }
      const Buffer<std::byte> copy(device_, bytes_of(rows, all_edges_[r], part_.weighted()),
                                   "lists of another rank");
      cuda::check(cudaMemcpyAsync(copy.data(), peers_->by_rank()[r], copy.bytes(), cudaMemcpyDeviceToDevice,
                                  executor_.cuda_stream().get()),
                  "lists of another rank");
      executor_.wait("lists of another rank");  // the kernels use another stream
      use(lists_in(copy.data(), rows, all_edges_[r], first, copies));
      copies += count(r, own_rank());
    }
  }

  /// Called when no rank reads others' lists any more. Memory may then be freed.
  void close() {
    part_.ranks().barrier("edges of ranks");
    peers_.reset();
    part_.ranks().barrier("edges of ranks");
  }

  /// Lists of own vertices, from row 0 and edge 0 on.
  CsrView lists() const { return lists_in(memory_.data(), rows_, edges_, 0, 0).lists; }
  const std::uint32_t* indices() const { return lists_in(memory_.data(), rows_, edges_, 0, 0).indices; }
  OwnershipView owners() const { return owners_.view(); }
  /// Edges from all other ranks to own vertices, and as many in the other direction.
  EdgeIndex edges_to_own() const {
    EdgeIndex edges = 0;
    for (unsigned r = 0; r < ranks(); ++r) edges += count(r, own_rank());
    return edges;
  }
  Copies copies_on(unsigned rank) const {
    Copies copies{all_edges_[rank], all_edges_[rank]};
    for (unsigned r = 0; r < ranks(); ++r) {
      copies.edges += count(r, rank);
      if (r < own_rank()) copies.begin += count(r, rank);
    }
    return copies;
  }
  std::uint64_t uploaded_bytes() const { return uploaded_bytes_; }

 private:
  unsigned ranks() const { return static_cast<unsigned>(part_.ranks().size()); }
  unsigned own_rank() const { return static_cast<unsigned>(part_.ranks().rank()); }
  std::uint64_t count(unsigned sender, unsigned receiver) const {
    return counts_[sender * ranks() + receiver];
  }

  static std::uint64_t bytes_of(std::uint64_t rows, EdgeIndex edges, bool weighted) {
    return (rows + 1) * sizeof(EdgeIndex) + edges * sizeof(std::uint32_t) + edge_bytes(edges, weighted);
  }
  ReverseLists lists_in(std::byte* memory, std::uint64_t rows, EdgeIndex edges, Vertex first,
                        EdgeIndex copies) const {
    auto* const offsets = reinterpret_cast<EdgeIndex*>(memory);
    auto* const targets = reinterpret_cast<Vertex*>(offsets + rows + 1);
    auto* const indices = reinterpret_cast<std::uint32_t*>(targets + edges);
    const auto* const weights = part_.weighted() ? reinterpret_cast<const float*>(indices + edges) : nullptr;
    return {{rows, edges, offsets, targets, weights}, first, indices, copies};
  }

  void upload_lists() {
    const CsrView& source = part_.lists();
    const CsrView target = lists();
    const EdgeIndex first = rows_ > 0 ? source.offsets[0] : 0;
    HostArray<EdgeIndex> offsets(rows_ + 1, "offsets of own edges");
    offsets[0] = 0;
    for (std::uint64_t row = 0; row < rows_; ++row) offsets[row + 1] = source.offsets[row + 1] - first;
    const auto upload = [&]<class T>(const T* device_column, const T* column, std::uint64_t size) {
      copy_to_device(device_, const_cast<T*>(device_column), column, size * sizeof(T));
      uploaded_bytes_ += size * sizeof(T);
    };
    upload(target.offsets, offsets.data(), offsets.size());
    for_each_piece(source, part_.out().file, true, part_.weighted(),
                   [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights) {
                     const EdgeIndex edge = source.offsets[begin], size = source.offsets[end] - edge;
                     upload(target.targets + (edge - first), targets + edge, size);
                     if (part_.weighted()) upload(target.weights + (edge - first), weights + edge, size);
                   });
  }

  /// Numbers own edges to a rank; returns how many there are.
  std::uint64_t number_edges(unsigned rank) {
    const ListCut cut{lists(), 0, part_.owners().begin(rank), part_.owners().end(rank)};
    executor_.for_each(rows_, {}, CountCut{cut, edges_before_.data(), nullptr});
    const std::uint64_t edges = executor_.exclusive_sum(edges_before_.data(), rows_);
    executor_.for_each(rows_ * cuda::kWarp, {},
                       NumberCut{cut, edges_before_.data(), const_cast<std::uint32_t*>(indices())});
    return edges;
  }

  /// Do 32-bit numbers suffice? The same on all ranks. Throws InputError unless equal numbers of edges lead
  /// between two ranks in both directions.
  bool numbers_fit() const {
    for (unsigned sender = 0; sender < ranks(); ++sender) {
      for (unsigned receiver = 0; receiver < ranks(); ++receiver) {
        if (count(sender, receiver) != count(receiver, sender)) throw InputError(kNoReverse);
        if (count(sender, receiver) > std::numeric_limits<std::uint32_t>::max()) return false;
      }
    }
    return true;
  }

  const Device& device_;
  const RankPart& part_;
  std::uint64_t rows_;
  EdgeIndex edges_;
  cuda::CudaExecutor executor_;
  DeviceOwnership owners_;
  Buffer<std::uint64_t> edges_before_;
  Buffer<std::byte> memory_;
  std::unique_ptr<PeerMemory> peers_;
  std::vector<std::uint64_t> counts_, all_edges_;  ///< [from][to]; [ranks]
  std::uint64_t uploaded_bytes_ = 0;
};

}  // namespace sluice::acc

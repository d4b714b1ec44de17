// In-edges rewritten for sweeps on a GPU. Two things limit a sweep: the gather of a contribution for every
// edge, and lanes that wait for longer rows. So
//   - sources are numbered by falling out-degree: contributions that are read most often are adjacent, in few
//     cache lines, which stay cached. Lists are sorted by that number, so that lanes read the same lines;
//   - rows are sorted by falling in-degree, and short rows are stored in slices of 32, a row a lane, entries
//     interleaved across the lanes (sliced ELLPACK: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010). Neighbouring
//     rows have about the same degree, so there is little padding, and no lane waits.
// On an H200, Kronecker scale 22, an iteration in f64 makes 196.8 G edges/s with sliced rows, 108 with rows
// as they are stored (`pagerank --rows` compares).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/static/sweep_pieces.hpp"

namespace sluice::pagerank {

/// Rows of a slice, one a lane of a warp. Lists of longer rows are padded to a multiple of it.
inline constexpr unsigned kSlice = 32;
/// A warp reads rows of more in-edges than kMaxSliceDegree, up to 32 rows a claim. Above kMaxListDegree it
/// claims a few, so that no warp works on when the others have ended. A block reads a row above
/// kMaxLongDegree, a hub.
inline constexpr std::uint64_t kMaxSliceDegree = 64;
inline constexpr std::uint64_t kMaxListDegree = 512;
inline constexpr std::uint64_t kMaxLongDegree = 4096;
/// Long rows, and slices, that a warp claims at once, since all claims contend for one word of memory.
inline constexpr std::uint64_t kLongRowsPerClaim = 4;
inline constexpr std::uint64_t kSlicesPerClaim = 4;

/// Rows k by falling in-degree, in device memory. Blocks read rows [0, hubs), warps [hubs, lists), those
/// below `longs` a few at a time; the others are in slices. A rank's rows are numbered from 0, and this view
/// has numbers [first, first + count). Its sources are numbered from the rank's first vertex on. Padding
/// entries are `no_source`, one more than the last number.
struct SlicedView {
  const std::uint32_t* rows = nullptr;     ///< [count] the number of row k, or null: first + k
  const std::uint64_t* starts = nullptr;   ///< [lists + slices + 1] into `sources`
  const std::uint32_t* sources = nullptr;  ///< their numbers
  const float* weights = nullptr;          ///< or null
  std::uint64_t first = 0, count = 0, hubs = 0, longs = 0, lists = 0;
  std::uint32_t no_source = 0;
  /// What a warp claims at once: long rows, other rows outside slices, slices.
  std::uint32_t longs_per_claim = kLongRowsPerClaim, lists_per_claim = kSlice,
                slices_per_claim = kSlicesPerClaim;

  __device__ std::uint64_t number(std::uint64_t row) const {
    return rows == nullptr ? first + row : rows[row];
  }
  __host__ __device__ std::uint64_t slices() const { return (count - lists + kSlice - 1) / kSlice; }

  /// Claims for long rows without hubs, for other rows outside slices, and for slices.
  __host__ __device__ std::uint64_t long_tasks() const { return tasks(longs - hubs, longs_per_claim); }
  __host__ __device__ std::uint64_t list_tasks() const { return tasks(lists - longs, lists_per_claim); }
  __host__ __device__ std::uint64_t slice_tasks() const { return tasks(slices(), slices_per_claim); }

  /// Makes claims smaller if some of so many warps would get none, since claimed rows are read one by one.
  void balance_claims(std::uint64_t warps) {
    const auto per_claim = [warps](std::uint64_t all, std::uint64_t limit) {
      return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all / warps, 1, limit));
    };
    longs_per_claim = per_claim(longs - hubs, kLongRowsPerClaim);
    lists_per_claim = per_claim(lists - longs, kSlice);
    slices_per_claim = per_claim(slices(), kSlicesPerClaim);
  }

 private:
  __host__ __device__ static std::uint64_t tasks(std::uint64_t all, std::uint64_t per_claim) {
    return (all + per_claim - 1) / per_claim;
  }
};

/// The views of several pieces.
struct SlicedPieces {
  SlicedPieces() = default;
  explicit SlicedPieces(const std::vector<SlicedView>& pieces) : count(static_cast<unsigned>(pieces.size())) {
    std::copy(pieces.begin(), pieces.end(), view);
  }
  __device__ unsigned size() const { return count; }
  __device__ const SlicedView& operator[](unsigned piece) const { return view[piece]; }

  SlicedView view[kMaxPieces];
  unsigned count = 0;
};

class SlicedRows {
 public:
  /// Rewrites the in-edges of a rank's vertices, or of all, with weights if `weighted`. All ranks of `router`
  /// call it, and send each other the numbers of their vertices. Waits for `stream`.
  SlicedRows(const Device& device, const RankGraph& graph, bool weighted, const SweepPieces& pieces,
             const cuda::Stream& stream, const Router& router);
  /// Most device memory that the rows take, including their construction.
  static std::uint64_t max_bytes(const RankGraph& graph, bool weighted, const SweepPieces& pieces);

  /// Pieces of the rows by number, each sorted by in-degree on its own; some may be empty.
  const std::vector<SlicedView>& pieces() const { return pieces_; }
  /// [rows] The graph's row for each number.
  const Buffer<Vertex>& order() const { return order_; }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

  /// Copies from[row] in host memory to to[number] in device memory. Waits.
  template <class T>
  void copy_by_number(const T* from, T* to, const cuda::Stream& stream) const;

 private:
  struct Chunk;
  struct BuildState;
  void sort_rows(BuildState& state, const SweepPieces& pieces);
  void cut_pieces(BuildState& state, const SweepPieces& pieces, const std::uint32_t* keys_by_number);
  void compute_layout(BuildState& state);
  void fill(BuildState& state);
  void fill_rows(BuildState& state, std::uint64_t begin, std::uint64_t end, const Vertex* sources,
                 const float* weights);

  const Device& device_;
  std::uint64_t count_ = 0, vertices_ = 0, uploaded_ = 0;
  std::vector<SlicedView> pieces_;
  Buffer<Vertex> order_;
  Buffer<std::uint32_t> rows_;  ///< empty if row k has number k
  Buffer<std::uint64_t> starts_;
  Buffer<std::uint32_t> sources_;
  Buffer<float> weights_;
};

}  // namespace sluice::pagerank

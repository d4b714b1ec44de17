// In-edges rewritten for a GPU to sweep over. Two things bind a sweep: the gather of a contribution for every
// edge, and lanes that wait for longer rows. So
//   - sources are numbered by falling out-degree: those that most edges want lie side by side, in few lines
//     that stay in the caches, and every list is sorted by that number, so that lanes want the same lines;
//   - rows are sorted by falling in-degree, and short ones lie in slices of 32, one row a lane and entry by
//     entry across the lanes (sliced ELLPACK: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010). Neighbours have
//     about the same degree, so little is padded, and no lane waits.
// On an H200, Kronecker scale 22, an iteration in f64 makes 196.8 G edges/s so, 108 with rows as they are
// stored (`pagerank --rows` compares).
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

/// Rows of a slice, one a lane of a warp; lists of longer rows are padded to as many entries too.
inline constexpr unsigned kSlice = 32;
/// Rows of more in-edges are read by warps, up to 32 at a time; of more still, a few at a time, so that no
/// warp is still at work when the others have ended; and hubs by blocks.
inline constexpr std::uint64_t kSliceMost = 64;
inline constexpr std::uint64_t kListMost = 512;
inline constexpr std::uint64_t kLongMost = 4096;
/// What a warp claims at once, of those few and of slices, for claims meet in one word of memory.
inline constexpr std::uint64_t kLongAtOnce = 4;
inline constexpr std::uint64_t kSlicesAtOnce = 4;

/// Rows k of falling in-degree: [0, hubs) are for blocks, [hubs, lists) for warps, those up to `longs` a few
/// at a time, the others in slices. All in memory of the device. A rank's rows are numbered from 0, and these
/// are numbers [first, first + count); sources from the rank's first vertex on. A source that only fills up
/// is `no_source`, one behind the last of all.
struct SlicedView {
  const std::uint32_t* rows = nullptr;     ///< [count] the number of row k, or null: first + k
  const std::uint64_t* starts = nullptr;   ///< [lists + slices + 1] into `sources`
  const std::uint32_t* sources = nullptr;  ///< numbers
  const float* weights = nullptr;          ///< or null
  std::uint64_t first = 0, count = 0, hubs = 0, longs = 0, lists = 0;
  std::uint32_t no_source = 0;
  /// What a warp claims at once: long rows, other rows that it reads, slices.
  std::uint32_t longs_at_once = kLongAtOnce, lists_at_once = kSlice, slices_at_once = kSlicesAtOnce;

  __device__ std::uint64_t number(std::uint64_t row) const {
    return rows == nullptr ? first + row : rows[row];
  }
  __host__ __device__ std::uint64_t slices() const { return (count - lists + kSlice - 1) / kSlice; }

  /// Claims that long rows take, without hubs; that other rows take which warps read; and that slices take.
  __host__ __device__ std::uint64_t long_tasks() const { return tasks(longs - hubs, longs_at_once); }
  __host__ __device__ std::uint64_t list_tasks() const { return tasks(lists - longs, lists_at_once); }
  __host__ __device__ std::uint64_t slice_tasks() const { return tasks(slices(), slices_at_once); }

  /// Makes claims smaller where so many warps would have none: what one reads row by row, others may.
  void share_among(std::uint64_t warps) {
    const auto at_once = [warps](std::uint64_t all, std::uint64_t most) {
      return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all / warps, 1, most));
    };
    longs_at_once = at_once(longs - hubs, kLongAtOnce);
    lists_at_once = at_once(lists - longs, kSlice);
    slices_at_once = at_once(slices(), kSlicesAtOnce);
  }

 private:
  __host__ __device__ static std::uint64_t tasks(std::uint64_t all, std::uint64_t at_once) {
    return (all + at_once - 1) / at_once;
  }
};

/// Several of them.
struct SlicedPieces {
  SlicedPieces() = default;
  explicit SlicedPieces(const std::vector<SlicedView>& pieces) : count(static_cast<unsigned>(pieces.size())) {
    std::copy(pieces.begin(), pieces.end(), view);
  }
  __device__ unsigned size() const { return count; }
  __device__ const SlicedView& operator[](unsigned piece) const { return view[piece]; }

  SlicedView view[kMostPieces];
  unsigned count = 0;
};

class SlicedRows {
 public:
  /// In-edges of a rank's vertices, or of all, with weights where `weighted`. The ranks of `router` all
  /// come here, and send each other how they number their vertices. `stream` is waited for.
  SlicedRows(const Device& device, const RankGraph& graph, bool weighted, const SweepPieces& pieces,
             const cuda::Stream& stream, const Router& router);
  /// Device memory that this takes at most, while it is made too.
  static std::uint64_t most_bytes(const RankGraph& graph, bool weighted, const SweepPieces& pieces);

  /// Pieces of the rows by number, each sorted by in-degree for itself; some may be empty.
  const std::vector<SlicedView>& pieces() const { return pieces_; }
  /// [rows] The row of the graph that has a number.
  const Buffer<Vertex>& order() const { return order_; }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

  /// from[row], on the host, to to[number], on the device. Waits.
  template <class T>
  void number(const T* from, T* to, const cuda::Stream& stream) const;

 private:
  struct Chunk;
  struct Making;
  void sort_rows(Making& making, const SweepPieces& pieces);
  void cut_pieces(Making& making, const SweepPieces& pieces, const std::uint32_t* keys_by_number);
  void cut(Making& making);
  void fill(Making& making);
  void fill_some(Making& making, std::uint64_t begin, std::uint64_t end, const Vertex* sources,
                 const float* weights);

  const Device& device_;
  std::uint64_t count_ = 0, vertices_ = 0, uploaded_ = 0;
  std::vector<SlicedView> pieces_;
  Buffer<Vertex> order_;
  Buffer<std::uint32_t> rows_;  ///< empty where row k has number k
  Buffer<std::uint64_t> starts_;
  Buffer<std::uint32_t> sources_;
  Buffer<float> weights_;
};

}  // namespace sluice::pagerank

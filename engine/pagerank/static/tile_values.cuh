// Values that hold over stretches of a tile, in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sluice::pagerank {

/// Values that hold from a place of a tile up to the next one that has one. All threads of a block call
/// clear() and settle().
template <unsigned kBlock, unsigned kTile>
class TileValues {
  static constexpr unsigned kWords = kTile / 32;
  static_assert(kWords % 32 == 0, "a warp takes the words of a tile 32 at a time");

 public:
  __device__ void clear() {
    for (unsigned w = threadIdx.x; w < kWords; w += kBlock) bits_[w] = 0;
    __syncthreads();
  }
  /// Once for a place at most.
  __device__ void put(unsigned place, std::uint64_t value) {
    values_[place] = value;
    atomicOr(&bits_[place / 32], 1u << place % 32);
  }
  /// After all are put; `before` holds from the tile's beginning.
  __device__ void settle(std::uint64_t before) {
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    int top = -1;  // the last place of the words so far
    for (unsigned w = lane; threadIdx.x < 32 && w < kWords; w += 32) {
      int last = bits_[w] != 0 ? static_cast<int>(w * 32 + 31 - __clz(bits_[w])) : -1;
      for (unsigned step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0u, last, step);
        if (lane >= step) last = max(last, other);
      }
      last = max(last, top);
      const int above = __shfl_up_sync(~0u, last, 1);
      const int from = lane > 0 ? above : top;
      before_[w] = from < 0 ? before : values_[from];
      top = __shfl_sync(~0u, last, 31);
    }
    __syncthreads();
  }
  /// A warp asks for the 32 places of a word.
  __device__ std::uint64_t at(unsigned place) const {
    const unsigned w = place / 32, below = bits_[w] & ~0u >> (31 - place % 32);
    return below != 0 ? values_[w * 32 + 31 - __clz(below)] : before_[w];
  }

 private:
  std::uint32_t bits_[kWords];
  std::uint64_t before_[kWords];
  std::uint64_t values_[kTile];
};

}  // namespace sluice::pagerank

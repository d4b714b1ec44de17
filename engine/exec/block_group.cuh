// A thread block as a group, for work that takes one warp too long. Its lanes exchange data in shared memory.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/group.cuh"

namespace sluice {

template <unsigned Size>
class BlockGroup {
 public:
  static constexpr unsigned kSize = Size;
  static constexpr unsigned kWarps = Size / 32;
  static_assert(Size % 32 == 0 && Size <= 1024);

  /// Shared memory through which the lanes exchange values.
  struct Workspace {
    unsigned long long lanes[kSize];
    unsigned long long warps[kWarps];
  };

  __device__ __forceinline__ explicit BlockGroup(Workspace& workspace) : workspace_(&workspace) {}

  // Every collective ends with a barrier, so that the next may write to the workspace at once.
  __device__ __forceinline__ unsigned rank() const { return threadIdx.x; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  /// One more than the lowest rank whose predicate holds, or 0 if none does; first() returns that rank.
  __device__ __forceinline__ std::uint32_t ballot(bool predicate) const {
    const std::uint32_t lanes = warp_.ballot(predicate);
    if (warp_.rank() == 0) workspace_->warps[warp()] = lanes == 0 ? 0 : warp() * 32 + warp_.first(lanes) + 1;
    sync();
    std::uint32_t lowest = 0;
    for (unsigned w = kWarps; w-- > 0;) {
      const auto warp_result = static_cast<std::uint32_t>(workspace_->warps[w]);
      lowest = warp_result == 0 ? lowest : warp_result;
    }
    sync();
    return lowest;
  }
  __device__ __forceinline__ unsigned first(std::uint32_t ballot) const { return ballot - 1; }
  template <class T>
  __device__ __forceinline__ T broadcast(T value, unsigned from) const {
    if (rank() == from) workspace_->warps[0] = static_cast<unsigned long long>(value);
    sync();
    const T shared = static_cast<T>(workspace_->warps[0]);
    sync();
    return shared;
  }
  template <class T>
  __device__ __forceinline__ T sum(T value) const {
    share_by_warp(warp_.inclusive_scan(value));
    T all{};
    for (unsigned w = 0; w < kWarps; ++w) all += static_cast<T>(workspace_->warps[w]);
    sync();
    return all;
  }
  template <class T>
  __device__ __forceinline__ T maximum(T value) const {
    share_by_warp(warp_.maximum(value));
    T largest = static_cast<T>(workspace_->warps[0]);
    for (unsigned w = 1; w < kWarps; ++w) {
      const T other = static_cast<T>(workspace_->warps[w]);
      largest = other > largest ? other : largest;
    }
    sync();
    return largest;
  }
  template <class T>
  __device__ __forceinline__ T inclusive_scan(T value) const {
    const T scanned = warp_.inclusive_scan(value);
    share_by_warp(scanned);
    T below{};
    for (unsigned w = 0; w < warp(); ++w) below += static_cast<T>(workspace_->warps[w]);
    sync();
    return below + scanned;
  }
  template <class T>
  __device__ __forceinline__ bool equals_lower(T value) const {
    workspace_->lanes[rank()] = static_cast<unsigned long long>(value);
    bool equal = warp_.equals_lower(value);
    sync();
    for (unsigned lane = 0; lane < warp() * 32; ++lane)
      equal |= static_cast<T>(workspace_->lanes[lane]) == value;
    sync();
    return equal;
  }

 private:
  __device__ __forceinline__ unsigned warp() const { return threadIdx.x / 32; }
  /// Makes the value of each warp's last lane visible to the whole block.
  template <class T>
  __device__ __forceinline__ void share_by_warp(T value) const {
    if (warp_.rank() == 31) workspace_->warps[warp()] = static_cast<unsigned long long>(value);
    sync();
  }

  Tile<32> warp_;
  Workspace* workspace_;
};

}  // namespace sluice

// A tile of 2^k lanes of one warp as a group; scans are Kogge-Stone (C-SAW section IV.A).
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

template <unsigned Size>
struct Tile {
  static constexpr unsigned kSize = Size;
  static_assert(Size >= 2 && Size <= 32 && (Size & (Size - 1)) == 0);

  __device__ __forceinline__ static unsigned warp_lane() {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  __device__ __forceinline__ unsigned rank() const { return warp_lane() & (Size - 1); }
  __device__ __forceinline__ unsigned shift() const { return warp_lane() & ~(Size - 1); }
  __device__ __forceinline__ unsigned mask() const {
    return (Size == 32 ? ~0u : ((1u << Size) - 1)) << shift();
  }
  __device__ __forceinline__ void sync() const { __syncwarp(mask()); }
  __device__ __forceinline__ std::uint32_t ballot(bool predicate) const {
    return __ballot_sync(mask(), predicate) >> shift() & (Size == 32 ? ~0u : (1u << Size) - 1);
  }
  template <class T>
  __device__ __forceinline__ T broadcast(T value, unsigned from) const {
    return __shfl_sync(mask(), value, from, Size);
  }
  __device__ __forceinline__ unsigned __int128 broadcast(unsigned __int128 value, unsigned from) const {
    const auto low = broadcast(static_cast<unsigned long long>(value), from);
    const auto high = broadcast(static_cast<unsigned long long>(value >> 64), from);
    return static_cast<unsigned __int128>(high) << 64 | low;
  }
  template <class T>
  __device__ __forceinline__ T sum(T value) const {
    return broadcast(inclusive_scan(value), Size - 1);
  }
  template <class T>
  __device__ __forceinline__ T maximum(T value) const {
    for (unsigned stride = Size / 2; stride > 0; stride /= 2) {
      const T other = __shfl_xor_sync(mask(), value, stride, Size);
      value = other > value ? other : value;
    }
    return value;
  }
  template <class T>
  __device__ __forceinline__ T inclusive_scan(T value) const {
    for (unsigned stride = 1; stride < Size; stride *= 2) {
      const T below = up(value, stride);
      if (rank() >= stride) value += below;
    }
    return value;
  }
  template <class T>
  __device__ __forceinline__ bool equals_lower(T value) const {
    return (__match_any_sync(mask(), value) & ((1u << warp_lane()) - 1)) != 0;
  }
  __device__ __forceinline__ unsigned first(std::uint32_t ballot) const {
    return __ffs(static_cast<int>(ballot)) - 1;
  }

 private:
  template <class T>
  __device__ __forceinline__ T up(T value, unsigned stride) const {
    return __shfl_up_sync(mask(), value, stride, Size);
  }
  __device__ __forceinline__ unsigned __int128 up(unsigned __int128 value, unsigned stride) const {
    const auto low = up(static_cast<unsigned long long>(value), stride);
    const auto high = up(static_cast<unsigned long long>(value >> 64), stride);
    return static_cast<unsigned __int128>(high) << 64 | low;
  }
};

}  // namespace sluice

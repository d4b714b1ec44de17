// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11,
// section 3.3). A counter-based generator: a draw is a pure function of key and counter, so that random
// numbers belong to the work and not to the worker. No state is stored; host and device give the same bits.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// One block of 128 random bits, or the counter it comes from.
struct PhiloxBlock {
  std::uint32_t x, y, z, w;

  /// The two 64-bit words of the block.
  SLUICE_HD std::uint64_t low() const { return x | static_cast<std::uint64_t>(y) << 32; }
  SLUICE_HD std::uint64_t high() const { return z | static_cast<std::uint64_t>(w) << 32; }
};

/// The ten rounds. `key` is the seed: its low half is the first key word.
SLUICE_HD PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  std::uint32_t key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMultiplier0 * counter.x, p1 = kMultiplier1 * counter.z;
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter.y ^ key0, static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter.w ^ key1, static_cast<std::uint32_t>(p0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

}  // namespace sluice

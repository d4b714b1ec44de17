// What the way between host memory and the device carries.
#pragma once

#include <cstdint>
#include <span>

#include "engine/exec/device.hpp"

namespace sluice {

struct LinkRates {
  double copied_bytes = 55e9;  ///< a second, page-locked, in large pieces
  double mapped_reads = 43e6;  ///< a second, random, of 4 bytes in host memory by the device
};

/// What to expect without measuring, where `in_place` bytes of host memory are read at random. A GPU's
/// translations reach about that far (DESIGN section 7): beyond it, reads are ten times slower, in pages of
/// 2 MiB too.
inline LinkRates expected_link(std::uint64_t in_place) {
  constexpr std::uint64_t kReach = 640u << 20;
  LinkRates rates;
  if (in_place <= kReach) rates.mapped_reads = 0.5e9;
  return rates;
}

/// Measures both within milliseconds; where the budget cannot hold that, expects them. `in_place` is the
/// page-locked memory that would be read: the more there is, the slower random reads of it are.
LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place);

namespace cuda {
LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place);
}

}  // namespace sluice

// Transfer rates of the link between host memory and the device.
#pragma once

#include <cstdint>
#include <span>

#include "engine/exec/device.hpp"

namespace sluice {

struct LinkRates {
  double copied_bytes = 55e9;  ///< bytes a second: large copies of page-locked memory
  double mapped_reads = 43e6;  ///< reads a second: 4 bytes at random in host memory, by the device
};

/// The rates to expect without a measurement, if `in_place` bytes of host memory are read at random. A GPU's
/// address translations cover about kTranslationReach bytes (DESIGN section 7): beyond that, reads are ten
/// times slower, even with pages of 2 MiB.
inline LinkRates expected_link(std::uint64_t in_place) {
  constexpr std::uint64_t kTranslationReach = 640u << 20;
  LinkRates rates;
  if (in_place <= kTranslationReach) rates.mapped_reads = 0.5e9;
  return rates;
}

/// Measures both rates within milliseconds; returns the expected ones if the budget cannot hold its buffers.
/// `in_place` is the page-locked memory that would be read: the larger it is, the slower random reads are.
LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place);

namespace cuda {
LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place);
}

}  // namespace sluice

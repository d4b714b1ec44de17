// Exponential keys from integers alone, so that host and device order them alike (Efraimidis and Spirakis,
// "Weighted random sampling with a reservoir", IPL 2006: the K smallest of -log(u_i) / w_i are K successive
// draws).
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

inline constexpr int kLogBits = 52;  ///< fraction bits of an integer logarithm

/// -log2((random + 1) / 2^64) in fixed point with kLogBits fraction bits; its error is below 2^-50.
SLUICE_HD std::uint64_t negative_log2(std::uint64_t random) {
  if (random == ~std::uint64_t{0}) return 0;
  std::uint64_t mantissa = random + 1;
  int exponent = 0;  // leading zeros
  while ((mantissa >> 63) == 0) mantissa <<= 1, ++exponent;
  // log2 = 63 - exponent + log2(mantissa / 2^63); each squaring of the mantissa yields one more bit.
  std::uint64_t fraction = 0;
  for (int bit = 0; bit < kLogBits; ++bit) {
    const unsigned __int128 square = static_cast<unsigned __int128>(mantissa) * mantissa;
    const bool two = static_cast<std::uint64_t>(square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(two ? square >> 64 : square >> 63);
    fraction = fraction << 1 | (two ? 1u : 0u);
  }
  const std::uint64_t log2 = static_cast<std::uint64_t>(63 - exponent) << kLogBits | fraction;
  return (std::uint64_t{64} << kLogBits) - log2;
}

/// The key of a candidate with an integer bias > 0: its logarithm over its bias, in 96 bits.
SLUICE_HD unsigned __int128 exponential_key(std::uint64_t random, std::uint64_t bias) {
  return (static_cast<unsigned __int128>(negative_log2(random)) << 36) / bias;
}

}  // namespace sluice

// Integer decisions from random bits: host and device agree by construction.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/planted.hpp"

namespace sluice {

/// High 64 bits of a 64 x 64 bit product.
SLUICE_HD std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

/// A uniform index below `size` > 0: floor(r * size / 2^64) for 64 random bits r. Its bias is below size /
/// 2^64.
SLUICE_HD std::uint64_t uniform_index(std::uint64_t random, std::uint64_t size) {
  if (planted(Fault::modulo_bias)) return (random & 63) % size;
  if (planted(Fault::off_by_one)) return multiply_high(random, size + 1) % size;
  if (planted(Fault::dropped_last) && size > 1) return multiply_high(random, size - 1);
  return multiply_high(random, size);
}

/// The same for 128 random bits {high, low} and a size of up to 128 bits.
SLUICE_HD unsigned __int128 uniform_index(std::uint64_t high, std::uint64_t low, unsigned __int128 size) {
  const std::uint64_t size_low = static_cast<std::uint64_t>(size),
                      size_high = static_cast<std::uint64_t>(size >> 64);
  using Wide = unsigned __int128;
  const Wide middle1 = static_cast<Wide>(high) * size_low, middle2 = static_cast<Wide>(low) * size_high;
  const Wide carry = ((static_cast<Wide>(low) * size_low >> 64) + static_cast<std::uint64_t>(middle1) +
                      static_cast<std::uint64_t>(middle2)) >>
                     64;
  return static_cast<Wide>(high) * size_high + (middle1 >> 64) + (middle2 >> 64) + carry;
}

/// A probability as a 64-bit threshold: an event of probability p happens if random < threshold.
/// No threshold expresses p = 1; `certain` does.
struct Probability {
  std::uint64_t threshold = 0;
  bool certain = false;

  SLUICE_HD bool happens(std::uint64_t random) const { return certain || random < threshold; }

  /// From a double in [0, 1]: floor(p * 2^64), exact since p has 53 bits.
  static Probability of(double p) {
    if (p >= 1.0) return {~std::uint64_t{0}, true};
    return {p <= 0.0 ? 0 : static_cast<std::uint64_t>(std::ldexp(p, 64)), false};
  }
};

}  // namespace sluice

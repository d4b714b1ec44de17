// A list of candidates as a CTPS: adjacent regions of [0, total), region i as wide as candidate i's bias.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/planted.hpp"
#include "engine/core/search.hpp"
#include "engine/random/uniform.hpp"

namespace sluice {

/// Index of the first of the ascending sums[0..size) that is above x; the last one must be.
SLUICE_HD std::uint32_t upper_bound(const std::uint64_t* sums, std::uint32_t size, std::uint64_t x) {
  if (planted(Fault::search_off_by_one) && x > 0) --x;
  if (planted(Fault::search_dropped_last) && size > 1) --size;
  return count_while(size - 1, [&](std::uint32_t i) { return sums[i] <= x; });
}

/// The same, searched outwards from a guess: with a good one, all reads are in a few sectors; a bad one costs
/// at most twice the binary search.
SLUICE_HD std::uint32_t upper_bound_near(const std::uint64_t* sums, std::uint32_t size, std::uint64_t x,
                                         std::uint32_t guess) {
  if (planted(Fault::search_off_by_one) || planted(Fault::search_dropped_last))
    return upper_bound(sums, size, x);
  constexpr std::uint32_t kFirstStride = 4;  // a sector holds four sums
  std::uint32_t low = 0, high = size - 1;    // the answer is in [low, high]
  std::uint32_t stride = kFirstStride;
  if (sums[guess] <= x) {
    low = guess + 1;
    while (high - low >= stride && sums[low + stride - 1] <= x) low += stride, stride *= 2;
    if (high - low >= stride) high = low + stride - 1;
  } else {
    high = guess;
    while (high >= stride && sums[high - stride] > x) high -= stride, stride *= 2;
    if (high >= stride) low = high - stride + 1;
  }
  return low + (low == high ? 0 : upper_bound(sums + low, high - low + 1, x));
}

/// Inverse transform of 64 random bits over inclusive sums, the last of which is positive.
SLUICE_HD std::uint32_t inverse_transform(const std::uint64_t* sums, std::uint32_t size,
                                          std::uint64_t random) {
  const auto guess = static_cast<std::uint32_t>(multiply_high(random, size));
  return upper_bound_near(sums, size, uniform_index(random, sums[size - 1]), guess);
}

/// Uniform bias: no table.
struct UniformCandidates {
  using Index = std::uint32_t;
  std::uint32_t size;

  SLUICE_HD std::uint64_t total() const { return size; }
  SLUICE_HD std::uint32_t find(std::uint64_t x) const { return static_cast<std::uint32_t>(x); }
  SLUICE_HD std::uint64_t low(std::uint32_t i) const { return i; }
  SLUICE_HD std::uint64_t width(std::uint32_t) const { return 1; }
};

/// Inclusive integer prefix sums.
struct CtpsCandidates {
  using Index = std::uint32_t;
  const std::uint64_t* sums;
  std::uint32_t size;

  SLUICE_HD std::uint64_t total() const { return size == 0 ? 0 : sums[size - 1]; }
  SLUICE_HD std::uint32_t find(std::uint64_t x) const { return upper_bound(sums, size, x); }
  SLUICE_HD std::uint64_t low(std::uint32_t i) const { return i == 0 ? 0 : sums[i - 1]; }
  SLUICE_HD std::uint64_t width(std::uint32_t i) const { return sums[i] - low(i); }
};

}  // namespace sluice

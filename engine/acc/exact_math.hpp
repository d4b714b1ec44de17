// Powers and logarithms of two that are equal to the bit on every machine; those of the standard libraries
// differ between host and device. Each is a fixed sequence of unfused IEEE operations, with an error of a few
// units in the last place (core/unfused.hpp says how to compile host code that uses them).
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/unfused.hpp"

namespace sluice::acc::exact {

using unfused::add;
using unfused::divide;
using unfused::multiply;

SLUICE_HD std::uint64_t bits_of(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return std::bit_cast<std::uint64_t>(x);
#endif
}

SLUICE_HD double from_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

/// The nearest integer, halves up; |x| < 2^62.
SLUICE_HD std::int64_t nearest(double x) {
  const auto integer = static_cast<std::int64_t>(x);
  const double fraction = add(x, -static_cast<double>(integer));  // exact
  return integer + (fraction >= 0.5 ? 1 : fraction < -0.5 ? -1 : 0);
}

/// 2^x for x <= 0; 0 below 2^-1022.
SLUICE_HD double power2(double x) {
  if (!(x > -1022)) return 0;
  const std::int64_t integer = nearest(x);
  // e^y for |y| <= ln(2)/2: the truncation error of the series is below 2^-57.
  const double y = multiply(add(x, -static_cast<double>(integer)), 0.69314718055994530942);
  constexpr double kInverseFactorials[] = {
      1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,       1.0 / 5040,
      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  double sum = kInverseFactorials[12];
  for (int i = 11; i >= 0; --i) sum = add(kInverseFactorials[i], multiply(y, sum));
  sum = add(1, multiply(y, sum));
  return multiply(sum, from_bits(static_cast<std::uint64_t>(integer + 1023) << 52));
}

/// log2(x) of a positive normal number.
SLUICE_HD double log2(double x) {
  const std::uint64_t bits = bits_of(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double mantissa = from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (mantissa > 1.4142135623730951) mantissa = multiply(mantissa, 0.5), ++exponent;
  // ln(m) = 2 artanh((m - 1) / (m + 1)), whose argument is at most 0.172.
  const double s = divide(add(mantissa, -1), add(mantissa, 1)), square = multiply(s, s);
  constexpr double kInverseOdd[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                    1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  double sum = kInverseOdd[11];
  for (int i = 10; i >= 0; --i) sum = add(kInverseOdd[i], multiply(square, sum));
  return add(static_cast<double>(exponent), multiply(multiply(2.8853900817779268147, s), sum));  // 2 / ln(2)
}

}  // namespace sluice::acc::exact

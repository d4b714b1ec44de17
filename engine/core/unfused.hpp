// Products, sums and quotients of doubles that a compiler may not fuse, so that a stated sequence of them is
// equal to the bit on every machine. For the host, files that use them are compiled with -ffp-contract=off.
#pragma once

#include "engine/core/macros.hpp"

namespace sluice::unfused {

SLUICE_HD double multiply(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

SLUICE_HD double add(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

SLUICE_HD double divide(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}

}  // namespace sluice::unfused

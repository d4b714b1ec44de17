// Products, sums and quotients of doubles that the compiler must not fuse, so that a given sequence of them
// has the same bits on every machine. Host files that use them are compiled with -ffp-contract=off.
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

// The GPU's limits in a build without CUDA: there is no GPU to measure.
#if !defined(SLUICE_HAVE_CUDA)

#include "apps/bench/limits_cuda.hpp"

namespace sluice::bench {

Limits cuda_limits(const Device&, unsigned) {
  return {};
}

}  // namespace sluice::bench

#endif

// The GPU's limits; in a build without CUDA nothing calls this.
#pragma once

#include "apps/bench/limits.hpp"

namespace sluice::bench {

Limits cuda_limits(const Device& device, unsigned repetitions);

}  // namespace sluice::bench

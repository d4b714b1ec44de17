// The limits of a machine, for comparison with figures.
#pragma once

#include <span>

#include "engine/exec/device.hpp"

namespace sluice::bench {

/// Medians, in G reads a second and GB a second unless stated otherwise.
struct Limits {
  double copy = 0;     ///< read + write
  double random4 = 0;  ///< independent random reads of 4 bytes (16, 32) beyond all caches
  double random16 = 0;
  double random32 = 0;
  double to_device = 0;  ///< from page-locked host memory; 0 on the host
  double to_host = 0;
  double barrier = 0;  ///< microseconds of a grid barrier, two blocks per multiprocessor; 0 on the host
};

Limits measure_limits(const Device& device, unsigned repetitions);
/// As measure_limits, for a GPU; only in a build with CUDA.
Limits cuda_limits(const Device& device, unsigned repetitions);

/// Rates of a GPU that reads another GPU's memory, in the units of Limits.
struct PeerLimits {
  double copy = 0, random4 = 0;
};
/// `theirs` is memory of another GPU, accessible to kernels of `device`; its size is a multiple of 16 bytes.
/// Only in a build with CUDA.
PeerLimits cuda_peer_limits(const Device& device, std::span<const unsigned char> peer_memory,
                            unsigned repetitions);

}  // namespace sluice::bench

// The machine's limits as numbers, for figures that stand beside them.
#pragma once

#include <span>

#include "engine/exec/device.hpp"

namespace sluice::bench {

/// In G reads a second and GB a second unless it says otherwise; medians.
struct Limits {
  double copy = 0;     ///< read + write
  double random4 = 0;  ///< independent random reads beyond every cache, of so many bytes
  double random16 = 0;
  double random32 = 0;
  double to_device = 0;  ///< page-locked host memory to the device; 0 on the host backend
  double to_host = 0;
  double barrier =
      0;  ///< microseconds in which a grid of two blocks a processor waits for itself; 0 on the host
};

Limits measure_limits(const Device& device, unsigned repetitions);
/// The same of a device that is a GPU; only in a build with CUDA.
Limits cuda_limits(const Device& device, unsigned repetitions);

/// What a GPU reads of another's memory, in the units of Limits.
struct PeerLimits {
  double copy = 0, random4 = 0;
};
/// `theirs` is such memory, of a multiple of 16 bytes, which kernels of `device` reach; only in a build with
/// CUDA.
PeerLimits cuda_peer_limits(const Device& device, std::span<const unsigned char> theirs,
                            unsigned repetitions);

}  // namespace sluice::bench

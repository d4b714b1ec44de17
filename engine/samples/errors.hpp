// Errors of samples that ask more of a list or layer than can be drawn.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/types.hpp"

namespace sluice::samples {

/// One list has more draws than its random stream has words.
inline UsageError too_many_draws(std::uint64_t wanted, std::uint64_t max_draws) {
  return UsageError("a sample draws " + std::to_string(wanted) + " edges of one list, but at most " +
                    std::to_string(max_draws) + " can be drawn: select fewer, or all");
}

/// One list, or one layer, needs more redraws than its random stream has words.
inline UsageError too_many_redraws() {
  return UsageError(
      "a sample's draws collide too often: select fewer edges, or all of a list, or use --select updated");
}

/// The dynamic biases of a vertex's list sum to 2^64 or more.
inline UsageError biases_too_large(Vertex vertex) {
  return UsageError("the sampler's biases of the edges of vertex " + std::to_string(vertex) +
                    " add up to 2^64 or more: scale them down");
}

}  // namespace sluice::samples

// What a sample may ask of one list that cannot be had, in one line each.
#pragma once

#include <cstdint>

#include "engine/core/error.hpp"
#include "engine/core/types.hpp"

namespace sluice::samples {

/// More draws than there are random words for them.
UsageError too_many_draws(std::uint64_t wanted, std::uint64_t most);

/// More redraws of one list, or one layer, than there are random words for them.
UsageError too_many_redraws();

/// Dynamic biases whose sums do not fit 64 bits.
UsageError biases_too_large(Vertex vertex);

}  // namespace sluice::samples

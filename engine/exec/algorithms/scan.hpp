// Prefix sums over device memory. CUB stays behind this function: its headers are compiled once.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"

namespace sluice::cuda {

/// Exclusive sums of counts[0 .. size) into sums[0 .. size], sums[size] being the total. In place is allowed
/// if counts holds size + 1. `scratch` grows as needed, which is all that a plan does. `stream` is a
/// cudaStream_t.
void exclusive_sum(const Device& device, const std::uint64_t* counts, std::uint64_t* sums, std::uint64_t size,
                   Buffer<unsigned char>& scratch, void* stream);

}  // namespace sluice::cuda

// Prefix sums in device memory. Only scan.cu includes CUB, so that its headers are compiled once.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"

namespace sluice::cuda {

/// Writes the exclusive prefix sums of counts[0 .. size) to sums[0 .. size]; sums[size] is the total. Both
/// arrays have size + 1 entries, and may be the same. `scratch` grows as needed; a planned run does nothing
/// else. `stream` is a cudaStream_t.
void exclusive_sum(const Device& device, const std::uint64_t* counts, std::uint64_t* sums, std::uint64_t size,
                   Buffer<unsigned char>& scratch, void* stream);

}  // namespace sluice::cuda

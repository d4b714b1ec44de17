// Allocation of host memory for fast random reads.
#pragma once

#include <cstddef>

namespace sluice {

/// Uninitialised bytes that share no page with other memory, so that they can be page-locked. Large blocks
/// use huge pages: with small pages TLB misses dominate random reads, and a process that ends frees 8 GB a
/// second. std::free() releases the block. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);

}  // namespace sluice

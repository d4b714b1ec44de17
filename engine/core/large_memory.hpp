// Memory from the system in which random reads are fast.
#pragma once

#include <cstddef>

namespace sluice {

/// Uninitialised bytes that begin on a cache line: slots of up to 64 bytes are read with one access. Large ones
/// ask for huge pages: random reads of small ones spend their time in the TLB, and a process that ends gives
/// back 8 GB of them a second. std::free() releases them. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);

}  // namespace sluice

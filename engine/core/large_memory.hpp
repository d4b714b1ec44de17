// Memory from the system in which random reads are fast.
#pragma once

#include <cstddef>

namespace sluice {

/// Uninitialised bytes in pages of their own, which may be page-locked. Large ones ask for huge pages: random
/// reads of small ones spend their time in the TLB, and a process that ends gives back 8 GB of them a second.
/// std::free() releases them. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);

}  // namespace sluice

#include "engine/core/large_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace sluice {

void* allocate_aligned(std::size_t bytes) {
  // A page-locked block must share no page with other memory: a copy to a GPU fails if its source begins in
  // the block's last page and continues beyond it.
  constexpr std::size_t kPage = 4096, kHugePage = 2u << 20;
  const std::size_t alignment = bytes < 2 * kHugePage ? kPage : kHugePage;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (!memory) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

}  // namespace sluice

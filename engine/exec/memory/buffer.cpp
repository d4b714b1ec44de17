#include "engine/exec/memory/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/exec/backend.hpp"

namespace sluice {

namespace {

// Slots of up to 64 bytes are read with one access, so buffers start on a cache line; large ones ask for huge
// pages, since random reads of small pages spend their time in the TLB.
void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t kLine = 64, kHugePage = 2u << 20;
  const std::size_t alignment = bytes < 2 * kHugePage ? kLine : kHugePage;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (!memory) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

/// Charged first, so that memory beyond the ceiling is never taken.
void* allocate_charged(MemoryBudget& budget, std::size_t bytes, const char* purpose,
                       void* (*allocate)(std::size_t)) {
  if (bytes == 0) return nullptr;
  budget.charge(bytes, purpose);
  try {
    return allocate(bytes);
  } catch (...) {
    budget.release(bytes);
    throw;
  }
}

}  // namespace

void* DeviceMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(device.memory(), bytes, purpose,
                          device.is_cuda() ? cuda::allocate : allocate_aligned);
}

void DeviceMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  device.is_cuda() ? cuda::release(memory) : std::free(memory);
  device.memory().release(bytes);
}

void* StagingMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(host_budget(), bytes, purpose,
                          device.is_cuda() ? cuda::allocate_pinned : allocate_aligned);
}

void StagingMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  device.is_cuda() ? cuda::release_pinned(memory) : std::free(memory);
  host_budget().release(bytes);
}

void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  device.is_cuda() ? cuda::copy_to_device(to, from, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  device.is_cuda() ? cuda::copy_to_host(to, from, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

}  // namespace sluice

#include "engine/exec/buffer.hpp"

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

}  // namespace

void* device_allocate(const Device& device, std::size_t bytes, const char* purpose) {
  if (bytes == 0) return nullptr;
  device.memory().charge(bytes, purpose);
  try {
    return device.is_cuda() ? cuda::allocate(bytes) : allocate_aligned(bytes);
  } catch (...) {
    device.memory().release(bytes);
    throw;
  }
}

void device_free(const Device& device, void* memory, std::size_t bytes) noexcept {
  device.is_cuda() ? cuda::release(memory) : std::free(memory);
  device.memory().release(bytes);
}

void* staging_allocate(const Device& device, std::size_t bytes, const char* purpose) {
  if (bytes == 0) return nullptr;
  host_accountant().charge(bytes, purpose);
  try {
    return device.is_cuda() ? cuda::allocate_pinned(bytes) : allocate_aligned(bytes);
  } catch (...) {
    host_accountant().release(bytes);
    throw;
  }
}

void staging_free(const Device& device, void* memory, std::size_t bytes) noexcept {
  device.is_cuda() ? cuda::release_pinned(memory) : std::free(memory);
  host_accountant().release(bytes);
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

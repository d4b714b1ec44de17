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

/// Stands for memory of a run that is only planned. No process has an address from here on: a touch faults.
void* no_memory(std::size_t) {
  return reinterpret_cast<void*>(std::uintptr_t{1} << 63);
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

void free_memory(const Device& device, void* memory, void (*of_gpu)(void*)) noexcept {
  if (!device.plans()) device.is_cuda() ? of_gpu(memory) : std::free(memory);
}

}  // namespace

void* DeviceMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  const auto allocate = device.is_cuda() ? cuda::allocate : allocate_aligned;
  return allocate_charged(device.memory(), bytes, purpose, device.plans() ? no_memory : allocate);
}

void DeviceMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  free_memory(device, memory, cuda::release);
  device.memory().release(bytes);
}

void* StagingMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  const auto allocate = device.is_cuda() ? cuda::allocate_pinned : allocate_aligned;
  return allocate_charged(host_budget(), bytes, purpose, device.plans() ? no_memory : allocate);
}

void StagingMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  free_memory(device, memory, cuda::release_pinned);
  host_budget().release(bytes);
}

void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device.plans()) return;
  device.is_cuda() ? cuda::copy_to_device(to, from, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device.plans()) return;
  device.is_cuda() ? cuda::copy_to_host(to, from, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

}  // namespace sluice

#include "engine/exec/memory/buffer.hpp"

#include <cstdlib>
#include <cstring>

#include "engine/core/error.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/core/large_memory.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/memory/kept_memory.hpp"
#include "engine/exec/memory/threaded_copies.hpp"

namespace sluice {

namespace {

/// The kept memory of the process's GPU. Never destroyed: static objects may still hold buffers.
CachedMemory& cached_memory() {
  static CachedMemory* const memory = new CachedMemory({cuda::allocate, cuda::release, cuda::synchronize});
  return *memory;
}

void* allocate_on_gpu(const Device& device, std::size_t bytes) {
  void* const memory = cached_memory().allocate(bytes, device.memory().available());
  if (!memory) throw RunError("CUDA: cudaMalloc: out of memory");
  return memory;
}

/// Charges before it allocates, so that memory beyond the ceiling is never allocated. For a GPU the memory is
/// that of allocate_for_gpu(bytes).
template <class Allocate>
void* allocate_charged(MemoryBudget& budget, const Device& device, std::size_t bytes, const char* purpose,
                       const Allocate& allocate_for_gpu) {
  if (bytes == 0) return nullptr;
  budget.charge(bytes, purpose);
  try {
    if (device.is_planning()) return placeholder_address();
    return device.is_cuda() ? allocate_for_gpu(bytes) : allocate_aligned(bytes);
  } catch (...) {
    budget.release(bytes);
    throw;
  }
}

}  // namespace

void* DeviceMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(device.memory(), device, bytes, purpose,
                          [&](std::size_t size) { return allocate_on_gpu(device, size); });
}

void DeviceMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  if (!device.is_planning()) device.is_cuda() ? cached_memory().release(memory, bytes) : std::free(memory);
  device.memory().release(bytes);
}

void* StagingMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(host_budget(), device, bytes, purpose, cuda::allocate_pinned);
}

void StagingMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  if (!device.is_planning()) device.is_cuda() ? cuda::release_pinned(memory) : std::free(memory);
  host_budget().release(bytes);
}

void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes) {
  ThreadedCopies(device, bytes).to_device(to, from, bytes);
}

void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes) {
  ThreadedCopies(device, bytes).to_host(to, from, bytes);
}

}  // namespace sluice

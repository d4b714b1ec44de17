#include "engine/exec/memory/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/large_memory.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/memory/kept_memory.hpp"
#include "engine/exec/memory/page_locked.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

/// Stands for memory of a run that is only planned. No process has an address from here on: a touch faults.
void* no_memory() {
  return reinterpret_cast<void*>(std::uintptr_t{1} << 63);
}

/// Of the process's GPU. Never destroyed: whatever is static may still hold a buffer.
KeptMemory& kept_memory() {
  static KeptMemory* const memory = new KeptMemory({cuda::allocate, cuda::release, cuda::settle});
  return *memory;
}

void* allocate_on_gpu(const Device& device, std::size_t bytes) {
  void* const memory = kept_memory().allocate(bytes, device.memory().available());
  if (!memory) throw RunError("CUDA: cudaMalloc: out of memory");
  return memory;
}

/// Charged first, so that memory beyond the ceiling is never taken.
template <class Allocate>
void* allocate_charged(MemoryBudget& budget, std::size_t bytes, const char* purpose,
                       const Allocate& allocate) {
  if (bytes == 0) return nullptr;
  budget.charge(bytes, purpose);
  try {
    return allocate(bytes);
  } catch (...) {
    budget.release(bytes);
    throw;
  }
}

constexpr unsigned kMostCopying = 8;              // threads
constexpr std::size_t kCopied = 2u << 20;         // bytes at a time, by each
constexpr std::size_t kWorthThreads = 64u << 20;  // bytes

/// How many threads copy to a GPU: none where memory is page-locked already, or short.
unsigned copying_threads(const Device& device, const void* from, std::size_t bytes) {
  constexpr std::uint64_t kPartOfBudget = 16;
  const unsigned threads = std::min(device.threads(), kMostCopying);
  if (bytes < kWorthThreads || threads < 2 || cuda::is_page_locked(from)) return 0;
  return host_budget().available() / kPartOfBudget < threads * kCopied ? 0 : threads;
}

/// From pageable memory by way of page-locked pieces, as CUDA does by itself with one thread.
void copy_by_threads(const Device& device, std::byte* to, const std::byte* from, std::size_t bytes,
                     unsigned threads) {
  struct Piece {
    explicit Piece(const Device& device) : lane(device), memory(device, kCopied, "a copy to the device") {}
    CopyLane lane;
    Staging<std::byte> memory;
  };
  std::vector<std::unique_ptr<Piece>> pieces(threads);
  parallel_blocks(threads, bytes, kCopied, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
    auto& own = pieces[thread];
    if (!own) own = std::make_unique<Piece>(device);
    std::memcpy(own->memory.data(), from + begin, end - begin);
    own->lane.to_device(to + begin, own->memory.data(), end - begin);
    own->lane.wait("a copy to the device");
  });
}

}  // namespace

void* DeviceMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(device.memory(), bytes, purpose, [&](std::size_t size) {
    if (device.plans()) return no_memory();
    return device.is_cuda() ? allocate_on_gpu(device, size) : allocate_aligned(size);
  });
}

void DeviceMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  if (!device.plans()) device.is_cuda() ? kept_memory().release(memory, bytes) : std::free(memory);
  device.memory().release(bytes);
}

void* StagingMemory::allocate(const Device& device, std::size_t bytes, const char* purpose) {
  return allocate_charged(host_budget(), bytes, purpose, [&](std::size_t size) {
    if (device.plans()) return no_memory();
    return device.is_cuda() ? cuda::allocate_pinned(size) : allocate_aligned(size);
  });
}

void StagingMemory::release(const Device& device, void* memory, std::size_t bytes) noexcept {
  if (!device.plans()) device.is_cuda() ? cuda::release_pinned(memory) : std::free(memory);
  host_budget().release(bytes);
}

void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device.plans()) return;
  if (!device.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (const unsigned threads = copying_threads(device, from, bytes)) {
    copy_by_threads(device, static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, threads);
  } else {
    cuda::copy_to_device(to, from, bytes);
  }
}

void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device.plans()) return;
  device.is_cuda() ? cuda::copy_to_host(to, from, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

}  // namespace sluice

// An allocator of large host arrays, which several processes may share.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/host_array.hpp"

namespace sluice {

/// A placeholder address for memory that is counted but not allocated. No process has memory at or above it:
/// an access faults.
inline void* placeholder_address() {
  return reinterpret_cast<void*>(std::uintptr_t{1} << 63);
}

class HostMemory {
 public:
  virtual ~HostMemory() = default;

  struct Block {
    std::shared_ptr<void> storage;  ///< keeps the memory alive
    void* data = nullptr;
    std::uint64_t charged = 0;  ///< bytes of it that are charged to this process
  };
  virtual Block allocate(std::uint64_t bytes, const char* purpose) = 0;
};

/// Allocates an array from `memory`, or an array private to this process if `memory` is null.
template <class T>
HostArray<T> make_host_array(HostMemory* memory, std::size_t size, const char* purpose) {
  if (!memory) return HostArray<T>(size, purpose);
  HostMemory::Block block = memory->allocate(size * sizeof(T), purpose);
  return HostArray<T>(std::move(block.storage), static_cast<T*>(block.data), size, block.charged, purpose);
}

}  // namespace sluice

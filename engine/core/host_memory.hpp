// Where large arrays come from when they do not belong to one process alone.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/host_array.hpp"

namespace sluice {

/// Stands for memory that is only counted. No process has an address from here on: a touch faults.
inline void* no_memory() {
  return reinterpret_cast<void*>(std::uintptr_t{1} << 63);
}

class HostMemory {
 public:
  virtual ~HostMemory() = default;

  struct Block {
    std::shared_ptr<void> storage;  ///< keeps the memory
    void* data = nullptr;
    std::uint64_t charged = 0;  ///< what of it is this process's to pay for
  };
  virtual Block allocate(std::uint64_t bytes, const char* purpose) = 0;
};

/// An array from `memory`, or of this process's own where that is null.
template <class T>
HostArray<T> make_host_array(HostMemory* memory, std::size_t size, const char* purpose) {
  if (!memory) return HostArray<T>(size, purpose);
  HostMemory::Block block = memory->allocate(size * sizeof(T), purpose);
  return HostArray<T>(std::move(block.storage), static_cast<T*>(block.data), size, block.charged, purpose);
}

}  // namespace sluice

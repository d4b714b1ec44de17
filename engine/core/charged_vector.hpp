// A std::vector whose memory is charged to the host accountant as it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/core/accountant.hpp"

namespace sluice {

/// Throws BudgetError where the ceiling would be passed.
template <class T>
struct ChargedAllocator {
  using value_type = T;

  ChargedAllocator() = default;
  template <class U>
  explicit ChargedAllocator(const ChargedAllocator<U>&) noexcept {}

  T* allocate(std::size_t size) {
    host_accountant().charge(size * sizeof(T), "a growing list");
    try {
      return std::allocator<T>().allocate(size);
    } catch (...) {
      host_accountant().release(size * sizeof(T));
      throw;
    }
  }
  void deallocate(T* memory, std::size_t size) noexcept {
    std::allocator<T>().deallocate(memory, size);
    host_accountant().release(size * sizeof(T));
  }
  bool operator==(const ChargedAllocator&) const = default;
};

template <class T>
using ChargedVector = std::vector<T, ChargedAllocator<T>>;

}  // namespace sluice

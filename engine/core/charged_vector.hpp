// A std::vector whose memory is charged to the host budget as it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "engine/core/memory_budget.hpp"

namespace sluice {

/// Allocator that charges the host budget. Throws BudgetError, which names the purpose, if an allocation
/// would exceed the ceiling.
template <class T>
struct ChargedAllocator {
  using value_type = T;
  using is_always_equal = std::true_type;  // any instance may free what another allocated
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  ChargedAllocator() = default;
  explicit ChargedAllocator(const char* purpose) noexcept : purpose_(purpose) {}
  template <class U>
  explicit ChargedAllocator(const ChargedAllocator<U>& other) noexcept : purpose_(other.purpose()) {}

  T* allocate(std::size_t size) {
    host_budget().charge(size * sizeof(T), purpose_);
    try {
      return std::allocator<T>().allocate(size);
    } catch (...) {
      host_budget().release(size * sizeof(T));
      throw;
    }
  }
  void deallocate(T* memory, std::size_t size) noexcept {
    std::allocator<T>().deallocate(memory, size);
    host_budget().release(size * sizeof(T));
  }
  bool operator==(const ChargedAllocator&) const { return true; }
  const char* purpose() const { return purpose_; }

 private:
  const char* purpose_ = "a growing list";
};

template <class T>
using ChargedVector = std::vector<T, ChargedAllocator<T>>;

}  // namespace sluice

// Host memory of plain vectors, charged to the host's memory budget by the code that fills them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/memory_budget.hpp"

namespace sluice {

/// A charge to the host budget, released on destruction. A call that throws BudgetError, which names the
/// purpose, charges nothing.
class HostCharge {
 public:
  explicit HostCharge(const char* purpose) : purpose_(purpose) {}
  HostCharge(HostCharge&& other) noexcept
      : purpose_(other.purpose_), bytes_(std::exchange(other.bytes_, std::uint64_t{0})) {}
  HostCharge& operator=(HostCharge&& other) noexcept {
    std::swap(purpose_, other.purpose_), std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostCharge() { host_budget().release(bytes_); }

  std::uint64_t bytes() const { return bytes_; }
  void add(std::uint64_t bytes) {
    host_budget().charge(bytes, purpose_);
    bytes_ += bytes;
  }
  /// Raises the whole charge to at least `bytes`.
  void raise_to(std::uint64_t bytes) {
    if (bytes > bytes_) add(bytes - bytes_);
  }
  /// Appends to a vector whose memory is charged by this object alone.
  template <class T>
  void push(std::vector<T>& list, T value) {
    if (list.size() == list.capacity()) grow(list, std::max<std::size_t>(64, 2 * list.size()));
    list.push_back(value);
  }

 private:
  /// Old and new memory exist at once during the copy, and both are charged.
  template <class T>
  void grow(std::vector<T>& list, std::size_t size) {
    const std::uint64_t old_bytes = list.capacity() * sizeof(T);
    add(size * sizeof(T));
    list.reserve(size);
    host_budget().release(old_bytes);
    bytes_ -= old_bytes;
  }

  const char* purpose_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice

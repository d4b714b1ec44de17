// An owning, uninitialised array in host memory, charged to the host budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "engine/core/large_memory.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice {

/// Move-only array of trivially copyable T whose elements start uninitialised (a std::vector would write each
/// page once for nothing). The bytes are charged to `host_budget()` under `purpose`; if that budget only
/// counts (MemoryPlan), no memory is allocated and data() is null.
template <class T>
class HostArray {
 public:
  HostArray() = default;
  explicit HostArray(std::size_t size, const char* purpose = "an array") : size_(size) {
    host_budget().charge(bytes(), purpose);
    charged_ = bytes();
    if (host_budget().counts_only()) return;
    // An array of size 0 has an address too: null means that none was allocated.
    data_.reset(static_cast<T*>(allocate_aligned(std::max<std::size_t>(bytes(), 1))));
    std::uninitialized_default_construct_n(data_.get(), size);
  }
  /// An array of `size` elements at `data` in `storage`, which it keeps alive. Charges `charged` bytes.
  HostArray(std::shared_ptr<void> storage, T* data, std::size_t size, std::size_t charged,
            const char* purpose)
      : size_(size) {
    host_budget().charge(charged, purpose);
    charged_ = charged;
    data_ = {data, Release{std::move(storage)}};
  }
  HostArray(HostArray&& other) noexcept { swap(other); }
  HostArray& operator=(HostArray&& other) noexcept {
    HostArray moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~HostArray() { host_budget().release(charged_); }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  /// Bytes charged to this process's host budget.
  std::size_t charged() const { return charged_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  /// Frees the array's own elements; borrowed elements are freed with their storage.
  struct Release {
    std::shared_ptr<void> storage;
    void operator()(T* data) const {
      if (!storage) std::free(data);
    }
  };

  void swap(HostArray& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(charged_, other.charged_);
    std::swap(data_, other.data_);
  }

  std::size_t size_ = 0;
  std::size_t charged_ = 0;
  std::unique_ptr<T[], Release> data_;
};

}  // namespace sluice

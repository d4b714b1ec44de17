// How a run allocates device memory: a buffer on a Device, charged to its budget before it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/exec/device.hpp"

namespace sluice {

/// Memory on the device (host backend: host memory), charged to the device's budget.
struct DeviceMemory {
  /// Uninitialised; throws BudgetError or RunError.
  static void* allocate(const Device& device, std::size_t bytes, const char* purpose);
  static void release(const Device& device, void* memory, std::size_t bytes) noexcept;
};

/// Page-locked host memory where the device is a GPU, plain memory otherwise; charged to the host budget.
struct StagingMemory {
  /// Uninitialised; throws BudgetError or RunError.
  static void* allocate(const Device& device, std::size_t bytes, const char* purpose);
  static void release(const Device& device, void* memory, std::size_t bytes) noexcept;
};

/// Blocking copies between host and device memory; a run that is only planned copies nothing.
void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes);
void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes);

/// Owning, move-only array of trivially copyable T in Memory; elements start uninitialised.
template <class T, class Memory>
class ChargedArray {
 public:
  ChargedArray() = default;
  ChargedArray(const Device& device, std::size_t size, const char* purpose)
      : device_(&device),
        data_(static_cast<T*>(Memory::allocate(device, size * sizeof(T), purpose))),
        size_(size) {}
  ChargedArray(ChargedArray&& other) noexcept { swap(other); }
  ChargedArray& operator=(ChargedArray&& other) noexcept {
    ChargedArray moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~ChargedArray() {
    if (data_) Memory::release(*device_, data_, size_ * sizeof(T));
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }

  /// Makes room for at least `size` elements; if that needs new memory, the contents are lost.
  void reserve(const Device& device, std::size_t size, const char* purpose) {
    if (size <= size_) return;
    *this = ChargedArray();
    *this = ChargedArray(device, size, purpose);
  }

 private:
  void swap(ChargedArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
using Buffer = ChargedArray<T, DeviceMemory>;
template <class T>
using Staging = ChargedArray<T, StagingMemory>;

}  // namespace sluice

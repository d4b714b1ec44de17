// The one way to allocate device memory: a buffer on a Device, charged to its ledger before it exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/exec/device.hpp"

namespace sluice {

/// Allocates on the device (host backend: host memory), uninitialised; throws BudgetError or RunError.
void* device_allocate(const Device& device, std::size_t bytes, const char* purpose);
void device_free(const Device& device, void* memory, std::size_t bytes) noexcept;
/// Page-locked host memory where the device is a GPU, plain memory otherwise; charged to the host accountant.
void* staging_allocate(const Device& device, std::size_t bytes, const char* purpose);
void staging_free(const Device& device, void* memory, std::size_t bytes) noexcept;
/// Blocking copies between host and device memory.
void copy_to_device(const Device& device, void* to, const void* from, std::size_t bytes);
void copy_to_host(const Device& device, void* to, const void* from, std::size_t bytes);

/// Owning, move-only array of trivially copyable T in device memory; elements start uninitialised.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, std::size_t size, const char* purpose)
      : device_(&device),
        data_(static_cast<T*>(device_allocate(device, size * sizeof(T), purpose))),
        size_(size) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Buffer() {
    if (data_) device_free(*device_, data_, size_ * sizeof(T));
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }

  /// Makes room for at least `size` elements; what was there is lost.
  void reserve(const Device& device, std::size_t size, const char* purpose) {
    if (size <= size_) return;
    *this = Buffer();
    *this = Buffer(device, size, purpose);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Owning staging array, see staging_allocate.
template <class T>
class Staging {
 public:
  Staging() = default;
  Staging(const Device& device, std::size_t size, const char* purpose)
      : device_(&device),
        data_(static_cast<T*>(staging_allocate(device, size * sizeof(T), purpose))),
        size_(size) {}
  Staging(Staging&& other) noexcept { swap(other); }
  Staging& operator=(Staging&& other) noexcept {
    Staging taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Staging() {
    if (data_) staging_free(*device_, data_, size_ * sizeof(T));
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  void swap(Staging& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sluice

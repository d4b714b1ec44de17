// An Ownership in the memory of a device.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/ownership.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice {

class DeviceOwnership {
 public:
  DeviceOwnership() = default;
  /// Copies the ranges. Throws BudgetError, which names `purpose`.
  DeviceOwnership(const Device& device, const Ownership& ranges, const char* purpose)
      : begins_(copied(device, ranges.begins(), purpose)),
        bucket_owners_(copied(device, ranges.bucket_owners(), purpose)),
        shift_(ranges.view().shift) {}

  std::uint64_t bytes() const { return begins_.bytes() + bucket_owners_.bytes(); }
  OwnershipView view() const { return {begins_.data(), bucket_owners_.data(), shift_}; }

 private:
  template <class T>
  static Buffer<T> copied(const Device& device, std::span<const T> source, const char* purpose) {
    Buffer<T> buffer(device, source.size(), purpose);
    copy_to_device(device, buffer.data(), source.data(), buffer.bytes());
    return buffer;
  }

  Buffer<std::uint64_t> begins_;
  Buffer<std::uint32_t> bucket_owners_;
  unsigned shift_ = 0;
};

}  // namespace sluice

// Memory beyond what a budget allows: a file that is mapped, whose pages the system brings and writes back as
// they are used.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

/// All zeros at first, and charged to no budget. The file has no name, so that nothing is left behind however
/// the process ends.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  /// Throws RunError naming the folder where it cannot be written or cannot hold so many bytes.
  ScratchMemory(const std::string& folder, std::uint64_t bytes);
  ScratchMemory(ScratchMemory&& other) noexcept { swap(other); }
  ScratchMemory& operator=(ScratchMemory&& other) noexcept {
    ScratchMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~ScratchMemory();

  void* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void swap(ScratchMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice

// Memory that the ranks of one machine share: made by one of them, opened by the others. It has no name in
// any folder, so nothing is left behind however the ranks end, and /dev/shm may be as small as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

class SharedMemory {
 public:
  SharedMemory() = default;
  /// New memory, all zeros. Throws RunError.
  explicit SharedMemory(std::uint64_t bytes);
  /// The memory that another process of this machine has made. Throws RunError where it cannot be seen (in
  /// another container, or of another user).
  SharedMemory(const std::string& address, std::uint64_t bytes);
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    SharedMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~SharedMemory();

  void* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  /// What another process needs to open it, for as long as this one keeps it.
  const std::string& address() const { return address_; }

 private:
  void swap(SharedMemory& other) noexcept;
  void map();

  std::string address_;
  int fd_ = -1;
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice

// Memory that the ranks of one machine share: one creates it, the others open it. It has no name in any
// folder, so nothing is left behind however the ranks end, and the size of /dev/shm does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/exec/memory/system_handles.hpp"

namespace sluice {

class SharedMemory {
 public:
  SharedMemory() = default;
  /// New memory, all zeros. Throws RunError.
  explicit SharedMemory(std::uint64_t bytes);
  /// The memory that another process of this machine has created. Throws RunError if it is not visible (in
  /// another container, or of another user).
  SharedMemory(const std::string& address, std::uint64_t bytes);

  void* data() const { return memory_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  /// The address by which another process can open it, as long as this one keeps it.
  const std::string& address() const { return address_; }

 private:
  void map();

  std::string address_;
  OpenFile file_;
  MappedMemory memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice

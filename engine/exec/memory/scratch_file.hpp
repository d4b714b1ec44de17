// Files for data that exceeds memory, accessed by position or mapped. They have no name, so that no file
// remains however the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/exec/memory/system_handles.hpp"

namespace sluice {

/// Creates a file whose name begins with `name`, and unlinks it at once. If that fails, the result has no
/// file, and errno says why.
OpenFile open_unlinked(std::string name);

/// A scratch file, which is not charged as host memory. Several threads may read and write.
class ScratchFile {
 public:
  ScratchFile() = default;
  /// Throws RunError naming the folder if no file can be created there.
  explicit ScratchFile(const std::string& folder);

  /// Write and read bytes from position `offset` on. Both throw RunError naming the folder if the system call
  /// fails, such as on a full disk, or if the file ends too early.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Writes after all bytes appended before; one thread at a time may call it.
  void append(std::span<const std::byte> bytes) {
    write(size_, bytes);
    size_ += bytes.size();
  }
  std::uint64_t size() const { return size_; }  ///< bytes appended

 private:
  std::string folder_;
  OpenFile file_;
  std::uint64_t size_ = 0;
};

/// A scratch file mapped as memory, for what exceeds a budget; it is charged to none. The system reads its
/// pages and writes them back as they are used. All bytes are zero at first.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  /// Throws RunError naming the folder if it cannot be written or cannot hold `bytes` bytes.
  ScratchMemory(const std::string& folder, std::uint64_t bytes);

  void* data() const { return memory_.get(); }
  std::uint64_t bytes() const { return memory_ == nullptr ? 0 : memory_.get_deleter().bytes; }

 private:
  MappedMemory memory_;
};

}  // namespace sluice

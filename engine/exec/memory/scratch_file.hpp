// Files for what no memory holds, written and read by position or mapped. They have no name, so that nothing
// is left behind however the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/exec/memory/system_handles.hpp"

namespace sluice {

/// A new file that had a name with this beginning until it was open. None: errno says why.
OpenFile open_nameless(std::string name);

/// Nothing of it counts as host memory. Several threads may read and write.
class ScratchFile {
 public:
  ScratchFile() = default;
  /// Throws RunError naming the folder where it cannot be written.
  explicit ScratchFile(const std::string& folder);

  /// Bytes from position `at` on. Both throw RunError naming the folder: the disk is full, or nothing is
  /// there.
  void write(std::uint64_t at, std::span<const std::byte> bytes) const;
  void read(std::uint64_t at, std::span<std::byte> bytes) const;
  /// The same behind all that was appended before, by one thread at a time.
  void append(std::span<const std::byte> bytes) {
    write(size_, bytes);
    size_ += bytes.size();
  }
  std::uint64_t size() const { return size_; }  ///< appended

 private:
  std::string folder_;
  OpenFile file_;
  std::uint64_t size_ = 0;
};

/// Such a file as memory beyond what a budget allows, charged to none: the system brings its pages and writes
/// them back as they are used. All zeros at first.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  /// Throws RunError naming the folder where it cannot be written or cannot hold so many bytes.
  ScratchMemory(const std::string& folder, std::uint64_t bytes);

  void* data() const { return memory_.get(); }
  std::uint64_t bytes() const { return memory_ == nullptr ? 0 : memory_.get_deleter().bytes; }

 private:
  MappedMemory memory_;
};

}  // namespace sluice

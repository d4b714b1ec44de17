// Memory beyond what a budget allows: a file that is mapped, whose pages the system brings and writes back as
// they are used.
#pragma once

#include <cstdint>
#include <string>

#include "engine/exec/memory/system_handles.hpp"

namespace sluice {

/// All zeros at first, and charged to no budget. The file has no name, so that nothing is left behind however
/// the process ends.
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

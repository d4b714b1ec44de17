// A nameless file for what does not fit into memory. Its name is gone as soon as it is open, so that nothing
// is left behind however the program ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::io {

class ScratchFile {
 public:
  /// In `folder`, which must exist and have free space; RunError names it otherwise.
  explicit ScratchFile(std::string folder);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  void append(const void* data, std::size_t bytes);
  void read(std::uint64_t offset, void* data, std::size_t bytes) const;
  std::uint64_t size() const { return size_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace sluice::io

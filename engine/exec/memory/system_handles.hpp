// Owners of system resources: an open file, and memory that is mapped to a file.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace sluice {

class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int file) : file_(file) {}
  OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }

  /// The file descriptor; below 0 if there is none.
  int get() const { return file_; }
  int release() { return std::exchange(file_, -1); }

 private:
  int file_ = -1;
};

struct Unmap {
  std::uint64_t bytes = 0;
  void operator()(void* memory) const { ::munmap(memory, bytes); }
};
using MappedMemory = std::unique_ptr<void, Unmap>;

/// Maps the first `bytes` of a file, shared with all others that map it. On failure null; errno says why.
inline MappedMemory map_file(int file, std::uint64_t bytes, int protection = PROT_READ | PROT_WRITE) {
  void* const mapped = ::mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
  return {mapped == MAP_FAILED ? nullptr : mapped, {bytes}};
}

}  // namespace sluice

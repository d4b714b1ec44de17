// An owned file descriptor, whose reads and writes complete or throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/exec/memory/system_handles.hpp"

namespace sluice::io {

/// "PATH: reason", the reason being the system's text for `error` (an errno).
std::string system_message(const std::string& path, int error);

/// Owns an open file. Faults throw RunError "PATH: reason", with the path by which the user knows the file.
class Descriptor {
 public:
  Descriptor() = default;
  /// open(2); throws RunError naming `display_path` (by default the path).
  Descriptor(const std::string& path, int flags, const std::string& display_path = {});
  /// Takes ownership of `fd`.
  Descriptor(int fd, std::string display_path) : file_(fd), display_path_(std::move(display_path)) {}

  int get() const { return file_.get(); }
  explicit operator bool() const { return get() >= 0; }
  void write_all(std::span<const std::byte> bytes);
  void write_all_at(std::span<const std::byte> bytes, std::uint64_t offset);
  /// Reads at most to the end of the file; returns the bytes read (less than requested only at the end).
  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) const;
  void sync();
  /// close(2) with its status checked: some file systems report a failed write only here.
  void close();

 private:
  [[noreturn]] void fail(int error) const;

  OpenFile file_;
  std::string display_path_;
};

/// Starts the writeback of written data while more is made. The system by itself waits for gigabytes of such
/// data or half a minute, and a sync at the end then waits for all of it. Writes past the cache (O_DIRECT)
/// would need whole blocks of aligned memory, which rows of results are not. `sluice-bench files` writes the
/// output of its jobs that way, and is no faster.
class Writeback {
 public:
  /// Counts `bytes` more that were written to the file, and starts writeback every 16 MiB.
  void add_written(int file, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kInterval = 16u << 20;

  std::uint64_t unflushed_ = 0;
};

/// Creates an unlinked file in the folder of `sibling`: it vanishes with its descriptor. Errors name
/// `display_path`.
Descriptor open_scratch(const std::string& sibling, const std::string& display_path);

}  // namespace sluice::io

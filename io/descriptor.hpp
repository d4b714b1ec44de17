// An owned file descriptor, and reads and writes that are complete or throw.
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

/// Owns an open file. Writing faults throw RunError "PATH: reason", with the path under which the user knows
/// the file.
class Descriptor {
 public:
  Descriptor() = default;
  /// open(2); throws RunError naming `known_as` (by default the path).
  Descriptor(const std::string& path, int flags, const std::string& known_as = {});
  /// Takes over `fd`.
  Descriptor(int fd, std::string known_as) : file_(fd), known_as_(std::move(known_as)) {}

  int get() const { return file_.get(); }
  explicit operator bool() const { return get() >= 0; }
  void write_all(std::span<const std::byte> bytes);
  void write_all_at(std::span<const std::byte> bytes, std::uint64_t offset);
  /// Reads up to the end of the file; returns how much there was (less than asked only at the end).
  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) const;
  void sync();
  /// close(2) with its status looked at: some file systems report only here that a write failed.
  void close();

 private:
  [[noreturn]] void fail(int error) const;

  OpenFile file_;
  std::string known_as_;
};

/// Has the disk take what is written while more is made. The system by itself waits until gigabytes are
/// there, or half a minute, and a sync at the end then waits for all of them. Writes past the cache
/// (O_DIRECT) would need whole blocks of aligned memory, which rows of results are not: `sluice-bench files`
/// writes so what its jobs write, and is no faster.
class Writeback {
 public:
  /// So many more bytes were written to the file.
  void count(int file, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kAtOnce = 16u << 20;

  std::uint64_t waiting_ = 0;
};

/// An unlinked file in the folder of `beside`: it vanishes with its descriptor. Faults name `known_as`.
Descriptor make_scratch(const std::string& beside, const std::string& known_as);

}  // namespace sluice::io

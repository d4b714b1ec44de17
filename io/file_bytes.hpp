// Reads a file by position, through the system's page cache or past it (O_DIRECT). Filling, copying and
// dropping a page of the cache takes a core up to twenty times as long as a read past it, and has no benefit
// if the file is larger than memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/exec/thread_pool.hpp"
#include "io/descriptor.hpp"

namespace sluice::io {

enum class Caching {
  system,  ///< reads use the system's cache, which keeps the data and reads ahead
  /// Cached data is copied from the cache. Other data is read past it and not kept, except for reads of less
  /// than 64 KiB, the end of the file, and threads whose 2 MiB are more than a 64th of the budget, or did not
  /// fit in it.
  none,
};

/// Bytes that are requested ahead of a read. If the system itself reads 128 KiB ahead (Linux's default), a
/// disk gives 0.5 GB/s to threads that only read, and 1.5 GB/s to threads that also request.
constexpr std::uint64_t kReadAheadBytes = 64u << 20;

/// An open file. Safe to read from several threads.
class FileBytes {
 public:
  FileBytes() = default;
  /// Opens the file for reading; throws RunError. If Caching::none is not possible, reads use the cache.
  explicit FileBytes(const std::string& path, Caching caching = Caching::system);

  int get() const { return cached_.get(); }
  /// Whether reads can bypass the cache.
  bool bypasses_cache() const { return static_cast<bool>(direct_); }
  /// Reads at most to the end of the file; returns the bytes read (less than requested only at the end).
  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) const;
  /// Asks the system to read these bytes into its cache in the background. Does nothing if reads bypass the
  /// cache.
  void read_ahead(std::uint64_t offset, std::uint64_t bytes) const;
  /// Whether the system's cache holds all of these bytes; false if the system does not tell.
  bool in_cache(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  friend class FileStream;
  class Reader;
  class Sequence;

  Descriptor cached_, direct_;
  MappedMemory map_;  ///< the file, for mincore(2); never read
};

/// A file that one thread reads from start to end past the cache, with some blocks in flight.
class FileStream {
 public:
  /// Opens the file for reading; throws RunError.
  explicit FileStream(const std::string& path);
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  ~FileStream();

  /// The next bytes; fewer only at the end of the file.
  std::size_t read(std::span<std::byte> bytes);

 private:
  struct Prefetch;

  FileBytes file_;                ///< through the cache
  std::unique_ptr<Prefetch> prefetch_;  ///< null: file is small, at its end, or read through the cache
  std::uint64_t at_ = 0;
  Background closing_;
};

/// Reads a file into the system's cache in the background, from its start, until this object is destroyed. It
/// runs beside work that does not read. Read errors are left to the reader that needs the data.
class ReadAhead {
 public:
  explicit ReadAhead(std::string path);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { stopped_ = true; }

 private:
  std::atomic<bool> stopped_{false};
  Background reading_;
};

}  // namespace sluice::io

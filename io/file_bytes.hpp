// A file's bytes by position, through the system's cache or past it. Filling, copying and dropping a page of
// the cache takes a core up to twenty times as long as a read past it, and gives nothing back where the file
// is larger than memory.
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
  system,  ///< what is read is left in the system's cache, which reads ahead
  /// What the cache holds is taken from it. The rest is read past it and not kept, but for reads of less than
  /// 64 KiB, the end of the file, and threads whose 2 MiB are more than a 64th of the budget, or did not
  /// fit in it.
  none,
};

/// Bytes that are asked for before they are read. A disk gives 0.5 GB/s to threads that only read, and 1.5 to
/// those who ask, where the system itself reads 128 KiB ahead (Linux's default).
constexpr std::uint64_t kAhead = 64u << 20;

/// An open file. Safe to read from several threads.
class FileBytes {
 public:
  FileBytes() = default;
  /// open(2) to read; throws RunError. Without the means for Caching::none, reads go through the cache.
  explicit FileBytes(const std::string& path, Caching caching = Caching::system);

  int get() const { return cached_.get(); }
  /// Can reads go past the cache?
  bool past_cache() const { return static_cast<bool>(direct_); }
  /// Reads up to the end of the file; returns how much there was (less than asked only at the end).
  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) const;
  /// Has the system read these bytes to its cache while the caller does something else. Nothing for reads
  /// past the cache.
  void read_ahead(std::uint64_t offset, std::uint64_t bytes) const;
  /// Does the system's cache hold all of these bytes? False where it does not say.
  bool in_cache(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  friend class FileStream;
  class Reader;
  class Sequence;

  Descriptor cached_, direct_;
  MappedMemory map_;  ///< the file, to ask about; never touched
};

/// A file that one thread reads from front to back, past the cache, some blocks ahead of it.
class FileStream {
 public:
  /// open(2) to read; throws RunError.
  explicit FileStream(const std::string& path);
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  ~FileStream();

  /// The next bytes; fewer only at the end of the file.
  std::size_t read(std::span<std::byte> bytes);

 private:
  struct Ahead;

  FileBytes file_;                ///< through the cache
  std::unique_ptr<Ahead> ahead_;  ///< null: it is small, goes through the cache, or has ended
  std::uint64_t at_ = 0;
  Background closing_;
};

/// Brings a file to the system's cache, from its beginning on, for as long as this lives, beside other work
/// that is no reading. What cannot be read is left to those who need it.
class ReadAhead {
 public:
  explicit ReadAhead(std::string path);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { ends_ = true; }

 private:
  std::atomic<bool> ends_{false};
  Background reading_;
};

}  // namespace sluice::io

// The bytes of a file, decompressed on the way if they are gzip.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/host_array.hpp"
#include "io/descriptor.hpp"
#include "io/file_bytes.hpp"

namespace sluice::io::readers {

/// A file read once from front to end, so pipes work too. gzip is known by its first bytes; members that
/// follow one another are read on. Faults (missing, a folder, cut off, damaged) throw InputError naming the
/// file.
class ByteStream {
 public:
  explicit ByteStream(std::string path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;

  /// Reads `size` bytes; fewer only at the end.
  std::size_t read(char* to, std::size_t size);

  const std::string& path() const { return path_; }
  bool compressed() const { return inflater_ != nullptr; }
  /// Bytes of the file consumed and in all (0: a pipe); may be asked from any thread.
  std::uint64_t consumed() const { return consumed_.load(std::memory_order_relaxed); }
  std::uint64_t total() const { return total_; }

 private:
  struct Inflater;

  std::size_t read_file(char* to, std::size_t size);
  std::size_t read_plain(char* to, std::size_t size);
  std::size_t read_gzip(char* to, std::size_t size);
  bool refill();
  void next_member();

  std::string path_;
  Descriptor file_;
  std::unique_ptr<FileStream> regular_;  ///< the same, of a file that is no pipe
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> consumed_{0};
  HostArray<char> raw_;  ///< bytes of the file not handed on yet: [raw_pos_, raw_end_)
  std::size_t raw_pos_ = 0, raw_end_ = 0;
  std::unique_ptr<Inflater> inflater_;
  bool finished_ = false;
};

}  // namespace sluice::io::readers

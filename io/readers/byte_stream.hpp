// Reads the bytes of a file; gzip is decompressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/host_array.hpp"
#include "io/descriptor.hpp"
#include "io/file_bytes.hpp"

namespace sluice::io::readers {

/// A file that is read once from start to end, so pipes work too. Its first bytes tell whether it is gzip;
/// several gzip members in a row are all read. Faults (missing, a folder, cut off, damaged) throw InputError
/// naming the file.
class ByteStream {
 public:
  explicit ByteStream(std::string path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;

  /// Reads `size` bytes; fewer only at the end.
  std::size_t read(char* out, std::size_t size);

  const std::string& path() const { return path_; }
  bool compressed() const { return inflater_ != nullptr; }
  /// Bytes of the file consumed, and its size (0: a pipe); any thread may call these.
  std::uint64_t consumed() const { return consumed_.load(std::memory_order_relaxed); }
  std::uint64_t total() const { return total_; }

 private:
  struct Inflater;

  std::size_t read_file(char* out, std::size_t size);
  std::size_t read_plain(char* out, std::size_t size);
  std::size_t read_gzip(char* out, std::size_t size);
  bool refill();
  void next_member();

  std::string path_;
  Descriptor file_;
  std::unique_ptr<FileStream> regular_;  ///< reads the file; null: it is a pipe
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> consumed_{0};
  HostArray<char> raw_;  ///< bytes of the file not delivered yet: [raw_pos_, raw_end_)
  std::size_t raw_pos_ = 0, raw_end_ = 0;
  std::unique_ptr<Inflater> inflater_;
  bool finished_ = false;
};

}  // namespace sluice::io::readers

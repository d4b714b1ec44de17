// Delivers text as lines while the header is read, then as blocks of whole lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/charged_vector.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/core/host_array.hpp"
#include "io/readers/byte_stream.hpp"

namespace sluice::io::readers {

/// Bytes. A line that makes buffers grow beyond this is refused: it cannot be an edge.
inline constexpr std::size_t kMaxLineBytes = 64u << 20;

class LineStream {
 public:
  explicit LineStream(std::unique_ptr<ByteStream> bytes);

  const std::string& path() const { return bytes_->path(); }
  const ByteStream& bytes() const { return *bytes_; }
  /// Lines consumed by skip_line() so far.
  std::uint64_t line() const { return line_; }

  /// The next `size` bytes (fewer at the end), not consumed; valid until the next call.
  std::string_view peek(std::size_t size);
  /// The next line with its '\n' (added if the file lacks it), not consumed; nullopt at the end.
  std::optional<std::string_view> peek_line();
  void skip_line();

  /// Returns where to cut the beginning of a line; see TextFormat::cut().
  using Cut = FunctionRef<std::size_t(std::string_view text, bool continued)>;
  struct Block {
    std::size_t size = 0;    ///< 0: the stream has ended
    bool continued = false;  ///< the first line began in the block before
    bool cut = false;        ///< a part of a single line, continued in the next block
  };
  /// Charges the memory that read_block() takes besides `text`.
  void reserve_block(std::size_t block_bytes) { buffered_.reserve(std::max(buffered_.size(), block_bytes)); }
  /// Fills `text` with about `block_bytes` bytes of lines, each ended by '\n'. A longer line is cut into
  /// several blocks; if it cannot be cut, `text` grows by doubling.
  Block read_block(HostArray<char>& text, std::size_t block_bytes, Cut cut);

  /// Reads raw bytes, for formats without lines. Peeked bytes are not consumed: this delivers them first.
  std::size_t read(char* out, std::size_t size);

  /// Throws InputError naming the line that peek_line() shows.
  [[noreturn]] void fault(const std::string& text) const;

 private:
  void unread(const char* tail, std::size_t size);

  std::unique_ptr<ByteStream> bytes_;
  /// Read but not consumed: [pos_, buffered_.size()).
  ChargedVector<char> buffered_{ChargedAllocator<char>("a block of text")};
  std::size_t pos_ = 0;
  std::uint64_t line_ = 0;
  bool inside_line_ = false;  ///< the last block ended within a line
};

}  // namespace sluice::io::readers

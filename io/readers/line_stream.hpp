// Text as lines while the header is read, then as blocks of whole lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/host_array.hpp"
#include "io/readers/byte_stream.hpp"

namespace sluice::io::readers {

/// A line that makes buffers grow beyond this is refused: it is no edge. (In METIS files a line is a
/// neighbour list, and may be longer.)
inline constexpr std::size_t kLongestLine = 64u << 20;

class LineStream {
 public:
  explicit LineStream(std::unique_ptr<ByteStream> bytes);

  const std::string& path() const { return bytes_->path(); }
  const ByteStream& bytes() const { return *bytes_; }
  /// Lines taken by skip_line() so far.
  std::uint64_t line() const { return line_; }
  void set_longest_line(std::size_t bytes) { longest_ = bytes; }

  /// The next `size` bytes (fewer at the end) without taking them; valid until the next call.
  std::string_view peek(std::size_t size);
  /// The next line with its '\n' (added if the file ends without); nothing at the end. Does not take it.
  std::optional<std::string_view> peek_line();
  void skip_line();

  /// Fills `text` with about `want` bytes of whole lines, each ended by '\n'; returns their size, 0 at the
  /// end. A line that is longer makes `text` grow by doubling.
  std::size_t read_block(HostArray<char>& text, std::size_t want);

  /// The stream itself, for readers of something other than lines; what was peeked must be taken through
  /// read().
  std::size_t read(char* to, std::size_t size);

  /// Throws InputError naming the line that peek_line() shows.
  [[noreturn]] void fault(const std::string& text) const;

 private:
  void put_back(const char* tail, std::size_t size);

  std::unique_ptr<ByteStream> bytes_;
  std::vector<char> held_;  ///< read but not taken: [pos_, held_.size())
  std::size_t pos_ = 0;
  std::uint64_t line_ = 0;
  std::size_t longest_ = kLongestLine;
};

}  // namespace sluice::io::readers

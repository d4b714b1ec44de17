#include "io/readers/line_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/readers/fault.hpp"

namespace sluice::io::readers {
namespace {

constexpr std::size_t kPeekBytes = 4096;

std::string too_long() {
  return fmt::format("the line is longer than {} bytes; is this a text file of edges?", kMaxLineBytes);
}

}  // namespace

LineStream::LineStream(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)) {
  if (peek(3) == "\xef\xbb\xbf") pos_ += 3;  // a byte order mark is no part of the first number
}

std::string_view LineStream::peek(std::size_t size) {
  const std::size_t available = buffered_.size() - pos_;
  if (available < size) {
    buffered_.erase(buffered_.begin(), buffered_.begin() + static_cast<std::ptrdiff_t>(pos_));
    pos_ = 0;
    buffered_.resize(size);
    buffered_.resize(available + bytes_->read(buffered_.data() + available, size - available));
  }
  return {buffered_.data() + pos_, std::min(size, buffered_.size() - pos_)};
}

std::optional<std::string_view> LineStream::peek_line() {
  std::size_t searched = 0;
  for (std::size_t size = kPeekBytes;; size *= 2) {
    const std::string_view view = peek(size);
    const std::size_t end = view.find('\n', searched);
    if (end != std::string_view::npos) return view.substr(0, end + 1);
    if (view.size() < size) {
      if (view.empty()) return std::nullopt;
      buffered_.push_back('\n');
      return std::string_view(buffered_.data() + pos_, buffered_.size() - pos_);
    }
    if (size >= kMaxLineBytes) fault(too_long());
    searched = size;
  }
}

void LineStream::skip_line() {
  if (const auto line = peek_line()) {
    pos_ += line->size();
    ++line_;
  }
}

std::size_t LineStream::read(char* out, std::size_t size) {
  const std::size_t copied = std::min(size, buffered_.size() - pos_);
  if (copied > 0) std::memcpy(out, buffered_.data() + pos_, copied);
  pos_ += copied;
  return copied + bytes_->read(out + copied, size - copied);
}

/// Puts back `tail`, the end of the last read, before all bytes that are still held.
void LineStream::unread(const char* tail, std::size_t size) {
  if (pos_ < buffered_.size()) {  // then `tail` came from buffered_ too
    pos_ -= size;
    return;
  }
  buffered_.assign(tail, tail + size);
  pos_ = 0;
}

LineStream::Block LineStream::read_block(HostArray<char>& text, std::size_t block_bytes, Cut cut) {
  if (text.size() != block_bytes + 1) {
    text = {};
    text = HostArray<char>(block_bytes + 1, "a block of text");
  }
  const bool continued = inside_line_;
  inside_line_ = false;
  std::size_t size = 0;
  for (;;) {
    const std::size_t space = text.size() - 1 - size;  // one byte is kept for a '\n' that the file lacks
    const std::size_t size_read = read(text.data() + size, space);
    const char* const last = static_cast<const char*>(memrchr(text.data() + size, '\n', size_read));
    size += size_read;
    if (size_read < space) {
      if (size > 0 && text[size - 1] != '\n') text[size++] = '\n';
      return {size, continued, false};
    }
    std::size_t block_size = last ? static_cast<std::size_t>(last - text.data()) + 1 : 0;
    if (block_size == 0) {
      block_size = cut({text.data(), size}, continued);
      inside_line_ = block_size > 0;
    }
    if (block_size > 0) {
      unread(text.data() + block_size, size - block_size);
      text[block_size - 1] = '\n';
      return {block_size, continued, inside_line_};
    }
    if (size >= kMaxLineBytes) throw LineFault{0, too_long()};
    HostArray<char> larger(2 * size + 1, "a block of text");
    std::memcpy(larger.data(), text.data(), size);
    text = std::move(larger);
  }
}

void LineStream::fault(const std::string& text) const {
  throw_at(path(), line_ + 1, text);
}

}  // namespace sluice::io::readers

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
  return fmt::format("the line is longer than {} bytes; is this a text file of edges?", kLongestLine);
}

}  // namespace

LineStream::LineStream(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)) {
  if (peek(3) == "\xef\xbb\xbf") pos_ += 3;  // a byte order mark is no part of the first number
}

std::string_view LineStream::peek(std::size_t size) {
  const std::size_t have = held_.size() - pos_;
  if (have < size) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(pos_));
    pos_ = 0;
    held_.resize(size);
    held_.resize(have + bytes_->read(held_.data() + have, size - have));
  }
  return {held_.data() + pos_, std::min(size, held_.size() - pos_)};
}

std::optional<std::string_view> LineStream::peek_line() {
  std::size_t searched = 0;
  for (std::size_t size = kPeekBytes;; size *= 2) {
    const std::string_view seen = peek(size);
    const std::size_t end = seen.find('\n', searched);
    if (end != std::string_view::npos) return seen.substr(0, end + 1);
    if (seen.size() < size) {
      if (seen.empty()) return std::nullopt;
      held_.push_back('\n');
      return std::string_view(held_.data() + pos_, held_.size() - pos_);
    }
    if (size >= kLongestLine) fault(too_long());
    searched = size;
  }
}

void LineStream::skip_line() {
  if (const auto seen = peek_line()) {
    pos_ += seen->size();
    ++line_;
  }
}

std::size_t LineStream::read(char* to, std::size_t size) {
  const std::size_t held = std::min(size, held_.size() - pos_);
  if (held > 0) std::memcpy(to, held_.data() + pos_, held);
  pos_ += held;
  return held + bytes_->read(to + held, size - held);
}

/// Puts back `tail`, the end of the last read, before all bytes that are still held.
void LineStream::put_back(const char* tail, std::size_t size) {
  if (pos_ < held_.size()) {  // then `tail` came from held_ too
    pos_ -= size;
    return;
  }
  held_.assign(tail, tail + size);
  pos_ = 0;
}

LineStream::Block LineStream::read_block(HostArray<char>& text, std::size_t want, Cut cut) {
  if (text.size() != want + 1) {
    text = {};
    text = HostArray<char>(want + 1, "a block of text");
  }
  const bool continued = inside_;
  inside_ = false;
  std::size_t size = 0;
  for (;;) {
    const std::size_t space = text.size() - 1 - size;  // one byte is kept for a '\n' that the file lacks
    const std::size_t got = read(text.data() + size, space);
    const char* const last = static_cast<const char*>(memrchr(text.data() + size, '\n', got));
    size += got;
    if (got < space) {
      if (size > 0 && text[size - 1] != '\n') text[size++] = '\n';
      return {size, continued, false};
    }
    std::size_t taken = last ? static_cast<std::size_t>(last - text.data()) + 1 : 0;
    if (taken == 0) {
      taken = cut({text.data(), size}, continued);
      inside_ = taken > 0;
    }
    if (taken > 0) {
      put_back(text.data() + taken, size - taken);
      text[taken - 1] = '\n';
      return {taken, continued, inside_};
    }
    if (size >= kLongestLine) throw LineFault{0, too_long()};
    HostArray<char> larger(2 * size + 1, "a block of text");
    std::memcpy(larger.data(), text.data(), size);
    text = std::move(larger);
  }
}

void LineStream::fault(const std::string& text) const {
  throw_at(path(), line_ + 1, text);
}

}  // namespace sluice::io::readers

#include "io/readers/byte_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "io/readers/fault.hpp"

namespace sluice::io::readers {
namespace {

constexpr std::size_t kRawBytes = 256u << 10;

bool has_gzip_magic(const char* data, std::size_t size) {
  return size >= 2 && static_cast<unsigned char>(data[0]) == 0x1f &&
         static_cast<unsigned char>(data[1]) == 0x8b;
}

}  // namespace

struct ByteStream::Inflater {
  Inflater() { ready = inflateInit2(&z, 16 + MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&z);
  }
  Inflater(const Inflater&) = delete;

  z_stream z{};
  bool ready = false;
};

ByteStream::ByteStream(std::string path) : path_(std::move(path)), raw_(kRawBytes, "the input buffer") {
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), path_);
  if (!file_) throw_in(path_, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_in(path_, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw_in(path_, "is a folder; name a file of edges");
  if (S_ISREG(status.st_mode)) {
    total_ = static_cast<std::uint64_t>(status.st_size);
    regular_ = std::make_unique<FileStream>(path_);
  }
  refill();
  if (has_gzip_magic(raw_.data(), raw_end_)) {
    inflater_ = std::make_unique<Inflater>();
    if (!inflater_->ready) throw_in(path_, "zlib cannot be started; it has no memory");
  } else if (raw_end_ > 0 && path_.ends_with(".gz")) {
    throw_in(path_, "is named .gz but holds no gzip data; rename it, or fetch it again");
  }
}

ByteStream::~ByteStream() = default;

std::size_t ByteStream::read(char* out, std::size_t size) {
  return inflater_ ? read_gzip(out, size) : read_plain(out, size);
}

std::size_t ByteStream::read_file(char* out, std::size_t size) {
  if (regular_) {
    const std::size_t got = regular_->read(std::as_writable_bytes(std::span(out, size)));
    consumed_.fetch_add(got, std::memory_order_relaxed);
    return got;
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file_.get(), out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_in(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
    consumed_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
  }
  return done;
}

bool ByteStream::refill() {
  raw_pos_ = 0;
  raw_end_ = read_file(raw_.data(), raw_.size());
  return raw_end_ > 0;
}

std::size_t ByteStream::read_plain(char* out, std::size_t size) {
  const std::size_t buffered = std::min(size, raw_end_ - raw_pos_);
  std::memcpy(out, raw_.data() + raw_pos_, buffered);
  raw_pos_ += buffered;
  return buffered + read_file(out + buffered, size - buffered);
}

std::size_t ByteStream::read_gzip(char* out, std::size_t size) {
  z_stream& z = inflater_->z;
  std::size_t done = 0;
  while (done < size && !finished_) {
    if (raw_pos_ == raw_end_ && !refill())
      throw_in(path_, "the gzip data are truncated; fetch the file again");
    z.next_in = reinterpret_cast<Bytef*>(raw_.data() + raw_pos_);
    z.avail_in = static_cast<uInt>(raw_end_ - raw_pos_);
    const auto space = static_cast<uInt>(std::min<std::size_t>(size - done, 1u << 30));
    z.next_out = reinterpret_cast<Bytef*>(out + done);
    z.avail_out = space;
    const int result = inflate(&z, Z_NO_FLUSH);
    raw_pos_ = raw_end_ - z.avail_in;
    done += space - z.avail_out;
    if (result == Z_STREAM_END)
      next_member();
    else if (result != Z_OK && result != Z_BUF_ERROR)
      throw_in(path_, std::string("the gzip data are damaged (") + (z.msg ? z.msg : "zlib error") +
                          "); fetch the file again");
  }
  return done;
}

/// Continues after a member's end: another member, zeros that pad a tape block, or the end of the file.
void ByteStream::next_member() {
  while (raw_pos_ < raw_end_ || refill()) {
    if (raw_end_ - raw_pos_ == 1) {  // a header's two bytes may lie on either side of a refill
      const char first = raw_[raw_pos_];
      raw_[0] = first;
      raw_pos_ = 0;
      raw_end_ = 1 + read_file(raw_.data() + 1, raw_.size() - 1);
    }
    if (has_gzip_magic(raw_.data() + raw_pos_, raw_end_ - raw_pos_)) {
      inflateReset(&inflater_->z);
      return;
    }
    const auto is_zero = [](char c) { return c == 0; };
    if (!std::all_of(raw_.data() + raw_pos_, raw_.data() + raw_end_, is_zero))
      throw_in(path_, "something other than gzip data follows the gzip data; fetch the file again");
    raw_pos_ = raw_end_;
  }
  finished_ = true;
}

}  // namespace sluice::io::readers

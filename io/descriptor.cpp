#include "io/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "engine/core/error.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kMaxTransfer = 1u << 30;  // Linux moves no more than 2 GiB a call

}  // namespace

std::string system_message(const std::string& path, int error) {
  return path + ": " + std::generic_category().message(error);
}

Descriptor::Descriptor(const std::string& path, int flags, const std::string& known_as)
    : known_as_(known_as.empty() ? path : known_as) {
  do {
    fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) fail(errno);
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void Descriptor::fail(int error) const {
  throw RunError(system_message(known_as_, error));
}

void Descriptor::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void Descriptor::write_all_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

std::size_t Descriptor::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  std::size_t sum = 0;
  while (sum < bytes.size()) {
    const ssize_t done = ::pread(fd_, bytes.data() + sum, std::min(bytes.size() - sum, kMaxTransfer),
                                 static_cast<off_t>(offset + sum));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    if (done == 0) break;
    sum += static_cast<std::size_t>(done);
  }
  return sum;
}

void Descriptor::sync() {
  if (::fsync(fd_) != 0 && errno != EINVAL)
    fail(errno);  // EINVAL: a pipe or terminal, which has nothing to sync
}

void Descriptor::close() {
  if (const int fd = std::exchange(fd_, -1); fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail(errno);
}

void Writeback::count(int file, std::uint64_t bytes) {
  if ((waiting_ += bytes) < kAtOnce) return;
  waiting_ = 0;
  ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);  // where it fails, the sync at the end fails
}

Descriptor make_scratch(const std::string& beside, const std::string& known_as) {
  std::string name = beside + ".scratch-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) throw RunError(system_message(known_as, errno));
  ::unlink(name.c_str());
  return Descriptor(fd, known_as);
}

}  // namespace sluice::io

#include "io/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "engine/core/error.hpp"
#include "engine/exec/memory/scratch_file.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kMaxTransfer = 1u << 30;  // Linux moves no more than 2 GiB a call

}  // namespace

std::string system_message(const std::string& path, int error) {
  return path + ": " + std::generic_category().message(error);
}

Descriptor::Descriptor(const std::string& path, int flags, const std::string& display_path)
    : display_path_(display_path.empty() ? path : display_path) {
  do {
    file_ = OpenFile(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  } while (get() < 0 && errno == EINTR);
  if (get() < 0) fail(errno);
}

void Descriptor::fail(int error) const {
  throw RunError(system_message(display_path_, error));
}

void Descriptor::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(get(), bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void Descriptor::write_all_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(get(), bytes.data(), std::min(bytes.size(), kMaxTransfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

std::size_t Descriptor::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  std::size_t sum = 0;
  while (sum < bytes.size()) {
    const ssize_t done = ::pread(get(), bytes.data() + sum, std::min(bytes.size() - sum, kMaxTransfer),
                                 static_cast<off_t>(offset + sum));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    if (done == 0) break;
    sum += static_cast<std::size_t>(done);
  }
  return sum;
}

void Descriptor::sync() {
  if (::fsync(get()) != 0 && errno != EINVAL)
    fail(errno);  // EINVAL: a pipe or terminal, which has nothing to sync
}

void Descriptor::close() {
  if (const int fd = file_.release(); fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail(errno);
}

void Writeback::add_written(int file, std::uint64_t bytes) {
  if ((unflushed_ += bytes) < kInterval) return;
  unflushed_ = 0;
  ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);  // if this fails, the final sync fails too
}

Descriptor open_scratch(const std::string& sibling, const std::string& display_path) {
  OpenFile file = open_unlinked(sibling + ".scratch");
  if (file.get() < 0) throw RunError(system_message(display_path, errno));
  return Descriptor(file.release(), display_path);
}

}  // namespace sluice::io

#include "io/convert/scratch_file.hpp"

#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/error.hpp"

namespace sluice::io {
namespace {

RunError failure(const std::string& folder, const char* doing, int error) {
  return RunError(fmt::format("{}: cannot {} a scratch file ({})", folder, doing, std::strerror(error)));
}

}  // namespace

ScratchFile::ScratchFile(std::string folder) : folder_(std::move(folder)) {
  std::string name = folder_ + "/.sluice-scratch-XXXXXX";
  descriptor_ = ::mkstemp(name.data());
  if (descriptor_ < 0) throw failure(folder_, "create", errno);
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() {
  ::close(descriptor_);
}

void ScratchFile::append(const void* data, std::size_t bytes) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw failure(folder_, "write", written < 0 ? errno : ENOSPC);
    from += written;
    bytes -= static_cast<std::size_t>(written);
    size_ += static_cast<std::uint64_t>(written);
  }
}

void ScratchFile::read(std::uint64_t offset, void* data, std::size_t bytes) const {
  for (char* to = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = ::pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw failure(folder_, "read", got < 0 ? errno : EIO);
    to += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace sluice::io

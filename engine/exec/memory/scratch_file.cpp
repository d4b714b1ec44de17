#include "engine/exec/memory/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice {

namespace {

/// `error` is an errno value; 0 means that the file holds fewer bytes than are read.
[[noreturn]] void fail(const std::string& folder, std::string_view what, int error) {
  throw RunError(fmt::format("{}: {} ({}; choose another --scratch)", folder, what,
                             error != 0 ? std::generic_category().message(error) : "the file is truncated"));
}

}  // namespace

OpenFile open_unlinked(std::string name) {
  name += "-XXXXXX";
  OpenFile file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() >= 0) ::unlink(name.c_str());
  return file;
}

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder), file_(open_unlinked(folder + "/.sluice-scratch")) {
  if (file_.get() < 0) fail(folder_, "a scratch file cannot be created", errno);
}

void ScratchFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(folder_, "a scratch file cannot be written", done < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void ScratchFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(folder_, "a scratch file cannot be read", done < 0 ? errno : 0);
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

ScratchMemory::ScratchMemory(const std::string& folder, std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto fail_to_create = [&](int error) {
    fail(folder, fmt::format("a scratch file of {} cannot be created", format_size(bytes)), error);
  };
  const OpenFile file = open_unlinked(folder + "/.sluice-scratch");  // the mapping keeps it
  if (file.get() < 0) fail_to_create(errno);
  // Allocates the whole file now: on a full disk, a later write to a page would kill the process.
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0)
    fail_to_create(error);
  memory_ = map_file(file.get(), bytes);
  if (memory_ == nullptr) fail_to_create(errno);
}

}  // namespace sluice

#include "engine/exec/memory/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/core/error.hpp"

namespace sluice {

OpenFile open_nameless(std::string name) {
  name += "-XXXXXX";
  OpenFile file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() >= 0) ::unlink(name.c_str());
  return file;
}

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder), file_(open_nameless(folder + "/.sluice-scratch")) {
  if (file_.get() < 0) fail("no scratch file there", errno);
}

void ScratchFile::fail(const char* what, int error) const {
  throw RunError(fmt::format("{}: {} ({}; choose another --scratch)", folder_, what,
                             error != 0 ? std::generic_category().message(error) : "it ends too early"));
}

void ScratchFile::write(std::uint64_t at, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("a scratch file cannot be written", done < 0 ? errno : ENOSPC);
    at += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void ScratchFile::read(std::uint64_t at, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("a scratch file cannot be read", done < 0 ? errno : 0);
    at += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

}  // namespace sluice

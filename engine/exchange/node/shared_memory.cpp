#include "engine/exchange/node/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "engine/core/error.hpp"

namespace sluice {
namespace {

[[noreturn]] void fail(const char* what) {
  throw RunError(fmt::format("shared memory cannot be {}: {}", what, std::generic_category().message(errno)));
}

/// A name that no other memory of this machine has. Process ids would not do: they are reused, and every
/// container has its own.
std::string fresh_name() {
  static std::random_device random;
  return fmt::format("sluice-{:08x}{:08x}", random(), random());
}

std::string link_of(const std::string& path) {
  char target[256];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
}

}  // namespace

SharedMemory::SharedMemory(std::uint64_t bytes) : bytes_(bytes) {
  const std::string name = fresh_name();
  file_ = OpenFile(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (file_.get() < 0 || ::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail("made");
  address_ = fmt::format("/proc/{}/fd/{} {}", ::getpid(), file_.get(), name);
  map();
}

SharedMemory::SharedMemory(const std::string& address, std::uint64_t bytes)
    : address_(address), bytes_(bytes) {
  const auto blank = address.find(' ');
  const std::string path = address.substr(0, blank), name = address.substr(blank + 1);
  if (link_of(path).find(name) == std::string::npos) {
    errno = ENOENT;
    fail("opened");
  }
  file_ = OpenFile(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file_.get() < 0) fail("opened");
  map();
}

void SharedMemory::map() {
  if (bytes_ == 0) return;
  memory_ = map_file(file_.get(), bytes_);
  if (memory_ == nullptr) fail("mapped");
  // Only advice: the system decides whether shared memory gets huge pages (shmem_enabled).
  ::madvise(memory_.get(), bytes_, MADV_HUGEPAGE);
}

}  // namespace sluice

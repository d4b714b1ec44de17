// Files with one changed byte must be read, or refused as bad input: HDF5 must neither crash nor hang.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "sanitized.hpp"

namespace sluice::test {

/// On damaged files HDF5 reads freed memory, at which a sanitizer ends the process.
constexpr bool kMayDamage = !test::kSanitized;

template <class Read>
void read_changed(const std::string& path, std::uint64_t bytes, std::uint64_t& at, Read&& read) {
  const int file = open(path.c_str(), O_RDWR);
  for (at = 0; at < bytes; ++at) {
    std::uint8_t byte = 0;
    if (pread(file, &byte, 1, static_cast<off_t>(at)) != 1) _exit(1);
    const std::uint8_t changed = byte == 0 ? 255 : byte ^ 8;
    if (pwrite(file, &changed, 1, static_cast<off_t>(at)) != 1) _exit(1);
    try {
      read();
    } catch (const InputError&) {
    } catch (...) {
      _exit(2);
    }
    if (pwrite(file, &byte, 1, static_cast<off_t>(at)) != 1) _exit(1);
  }
}

/// Reads the file once with each of its `bytes` changed, in a child process that may crash. Returns the first
/// byte whose change ended the child, or `bytes` if none did.
template <class Read>
std::uint64_t first_fatal_byte(const std::string& path, std::uint64_t bytes, Read&& read) {
  void* const shared = mmap(nullptr, sizeof bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& at = *static_cast<std::uint64_t*>(shared);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);  // ends a hang
    read_changed(path, bytes, at, read);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::uint64_t first = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? bytes : at;
  munmap(shared, sizeof bytes);
  return first;
}

}  // namespace sluice::test

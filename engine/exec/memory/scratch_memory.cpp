#include "engine/exec/memory/scratch_memory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/memory/scratch_file.hpp"

namespace sluice {

namespace {

RunError failure(const std::string& folder, std::uint64_t bytes, int error) {
  return RunError(fmt::format("{}: no scratch file of {} ({}; choose another --scratch)", folder,
                              format_size(bytes), std::generic_category().message(error)));
}

}  // namespace

ScratchMemory::ScratchMemory(const std::string& folder, std::uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const int file = open_nameless(folder);
  if (file < 0) throw failure(folder, bytes, errno);
  // All of it now: a page that the full disk cannot hold later would end the process.
  int error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == 0) {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) {
      error = errno;
    } else {
      data_ = mapped;
    }
  }
  ::close(file);  // what is mapped keeps the file
  if (error != 0) throw failure(folder, bytes, error);
}

ScratchMemory::~ScratchMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace sluice

#include "engine/exec/memory/scratch_memory.hpp"

#include <fcntl.h>
#include <fmt/core.h>

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

ScratchMemory::ScratchMemory(const std::string& folder, std::uint64_t bytes) {
  if (bytes == 0) return;
  const OpenFile file = open_nameless(folder + "/.sluice-scratch");  // what is mapped keeps it
  if (file.get() < 0) throw failure(folder, bytes, errno);
  // All of it now: a page that the full disk cannot hold later would end the process.
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0)
    throw failure(folder, bytes, error);
  memory_ = map_file(file.get(), bytes);
  if (memory_ == nullptr) throw failure(folder, bytes, errno);
}

}  // namespace sluice

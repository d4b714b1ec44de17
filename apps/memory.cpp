#include "apps/memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace sluice::apps {

namespace {

/// The number behind `key` in a file of lines like `MemAvailable:   123 kB`, in bytes.
std::optional<std::uint64_t> kilobytes_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == key && file >> number) return number * 1024;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;  // absent, or "max"
}

}  // namespace

std::uint64_t free_host_memory() {
  std::uint64_t free = kilobytes_of("/proc/meminfo", "MemAvailable:").value_or(std::uint64_t{1} << 30);
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) free = std::min(free, *limit > *used ? *limit - *used : 0);
  return free;
}

std::uint64_t peak_resident_bytes() {
  return kilobytes_of("/proc/self/status", "VmHWM:").value_or(0);
}

}  // namespace sluice::apps

#include "apps/job/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/cli/values.hpp"

namespace sluice::apps {

namespace {

/// The number after `key` in a file with lines such as `MemAvailable: 123 kB` or `total_inactive_file 4096`.
std::optional<std::uint64_t> number_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;  // absent, or "max"
}

/// The names of files and keys in one version of control groups.
struct GroupNames {
  const char* file_system;
  const char* limit;
  const char* used;
  const char* cached[2];  ///< keys in memory.stat; groups below included
};
constexpr GroupNames kVersion1{
    "cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr GroupNames kVersion2{"cgroup2", "memory.max", "memory.current", {"inactive_file", "active_file"}};

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The bytes that the control group of this folder still allows.
std::uint64_t free_in_group(const std::string& folder, const GroupNames& names) {
  const auto limit = number_in(folder + names.limit), used = number_in(folder + names.used);
  if (!limit || !used) return kUnlimited;
  std::uint64_t cached = 0;
  for (const char* const key : names.cached) cached += number_of(folder + "memory.stat", key).value_or(0);
  const std::uint64_t unreclaimable = *used - std::min(cached, *used);
  return *limit - std::min(unreclaimable, *limit);
}

/// Is `memory` one of the comma-separated names of controllers?
bool has_memory(std::string_view controllers) {
  return std::ranges::count(split(controllers, ","), "memory") > 0;
}

/// This process's group in a hierarchy, as /proc/self/cgroup names it.
std::optional<std::string> group_of(const std::string& root, const GroupNames& names) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:memory:/a/b"; version 2: "0::/a/b"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (&names == &kVersion2 ? controllers.empty() && line.starts_with("0:") : has_memory(controllers))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Decodes a name of /proc/self/mountinfo, where blanks are octal escapes.
std::string unescape(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 3 < name.size()) {
      plain += static_cast<char>(std::stoi(std::string(name.substr(i + 1, 3)), nullptr, 8));
      i += 3;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

/// The part of `group` below `top`; empty if it is not below, as in a container with its own namespace.
std::string path_below(const std::string& group, const std::string& top) {
  const std::string prefix = top == "/" ? "" : top;
  const bool inside =
      group.starts_with(prefix) && (group.size() == prefix.size() || group[prefix.size()] == '/');
  const std::string path = inside ? group.substr(prefix.size()) : "";
  return path.find("/..") == std::string::npos ? path : "";
}

/// The minimum that the process's group and all mounted groups above it allow.
std::uint64_t free_in_groups(const std::string& root, const GroupNames& names) {
  const auto group = group_of(root, names);
  if (!group) return kUnlimited;
  std::uint64_t min_free = kUnlimited;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // "31 23 0:28 TOP FOLDER options tags... - TYPE source options"
    const std::vector<std::string_view> all = split(line, " ");
    const auto dash = std::find(all.begin(), all.end(), "-");
    if (dash - all.begin() < 6 || all.end() - dash < 4 || dash[1] != names.file_system) continue;
    if (&names == &kVersion1 && !has_memory(dash[3])) continue;
    const std::string mount = root + unescape(all[4]);
    for (std::string path = path_below(*group, unescape(all[3])) + "/";;
         path.resize(path.rfind('/', path.size() - 2) + 1)) {
      min_free = std::min(min_free, free_in_group(mount + path, names));
      if (path.size() < 2) break;
    }
  }
  return min_free;
}

}  // namespace

std::uint64_t free_host_memory(const std::string& root) {
  const auto machine = number_of(root + "/proc/meminfo", "MemAvailable:");
  return std::min({machine ? *machine * 1024 : std::uint64_t{1} << 30, free_in_groups(root, kVersion1),
                   free_in_groups(root, kVersion2)});
}

std::uint64_t peak_resident_bytes() {
  return number_of("/proc/self/status", "VmHWM:").value_or(0) * 1024;
}

}  // namespace sluice::apps

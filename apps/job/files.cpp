#include "apps/job/files.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "engine/core/error.hpp"
#include "io/output_file.hpp"

namespace sluice::apps {

namespace {

namespace fs = std::filesystem;

/// An existing file or folder; or, for a name not yet in use, its existing folder and the name.
struct Identity {
  dev_t device = 0;
  ino_t node = 0;
  std::string name;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_if_exists(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino, {}};
}

Identity identity_of(const fs::path& path) {
  if (const auto found = identity_if_exists(path)) return *found;
  if (auto folder = identity_if_exists(io::folder_of(path))) {
    folder->name = path.filename();
    return *folder;
  }
  return {0, 0, fs::absolute(path).lexically_normal()};
}

/// Is the file in `folder` or in any folder below it?
bool contains(const Identity& folder, const fs::path& file) {
  std::error_code absent;
  fs::path folder_path = fs::canonical(io::folder_of(file), absent);
  for (; !absent && folder_path.has_relative_path(); folder_path = folder_path.parent_path()) {
    if (identity_if_exists(folder_path) == folder) return true;
  }
  return false;
}

}  // namespace

void refuse_file_conflicts(const std::vector<NamedFile>& files) {
  for (const NamedFile& file : files) {
    if (!file.written) continue;
    const std::string name = io::OutputFile::name_of(file.path);
    const Identity identity = identity_of(name);
    for (const NamedFile& other : files) {
      const std::string other_name = io::OutputFile::name_of(other.path);
      if (&other == &file) continue;
      const bool same = identity_of(other_name) == identity;
      if (!same && !contains(identity, other_name)) continue;
      throw UsageError(fmt::format("{}: {} {} {} (choose another name)", file.option, file.path,
                                   same ? "is the file of" : "holds the file of", other.option));
    }
  }
}

void require_free_names(const std::vector<NamedFile>& files, bool force) {
  for (const NamedFile& file : files) {
    if (file.written && !file.derived) io::OutputFile::require_free(file.path, force);
  }
}

}  // namespace sluice::apps

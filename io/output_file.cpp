#include "io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/core/error.hpp"
#include "io/descriptor.hpp"

namespace sluice::io {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

void sync_path(const std::string& path, const std::string& known_as) {
  Descriptor(path, O_RDONLY, known_as).sync();
}

/// --force must not cost a user a folder of other things, or a device file: only what looks like a result is
/// replaced.
void refuse_unlike_result(const std::string& path, mode_t mode) {
  if (S_ISREG(mode) || S_ISLNK(mode)) return;
  if (!S_ISDIR(mode)) throw UsageError(path + " is no regular file: choose another name");
  const bool shards = fs::path(path).extension() == ".shards";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const fs::path name = entry.path().filename();
    const bool result =
        shards ? name.extension() == ".h5" : name.extension() == ".npy" || name == "attributes.json";
    if (!result) {
      throw UsageError(path + " is a folder that holds more than results (" + name.string() +
                       "): choose another name, or remove it first");
    }
  }
  if (error) throw RunError(system_message(path, error.value()));
}

/// Renames where both names may be in use; `flags` as renameat2. File systems without them get a plain
/// rename.
int rename_with(const std::string& from, const std::string& to, unsigned flags) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (flags == RENAME_EXCHANGE) {
    const std::string aside = from + ".old";
    if (::rename(to.c_str(), aside.c_str()) != 0) return errno;
    if (::rename(from.c_str(), to.c_str()) != 0) return errno;
    return ::rename(aside.c_str(), from.c_str()) == 0 ? 0 : errno;
  }
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

}  // namespace

OutputFile::OutputFile(std::string path, bool force, bool folder)
    : path_(name_of(std::move(path))), folder_(folder), force_(force) {
  if (path_.empty()) throw UsageError("the name of the output file is empty");
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0) {
    if (!force) throw UsageError(path_ + " exists: give --force to replace it");
    refuse_unlike_result(path_, found.st_mode);
  } else if (errno != ENOENT) {
    throw RunError(system_message(path_, errno));
  }
  temporary_ = temporary_of(path_, ::getpid());
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);  // left by a killed run that had the same process id
  if (folder_) {
    if (::mkdir(temporary_.c_str(), 0777) != 0) throw RunError(system_message(path_, errno));
  } else {
    Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL, path_).close();
  }
}

std::string OutputFile::name_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string OutputFile::temporary_of(const std::string& path, long process) {
  return path + ".partial-" + std::to_string(process);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      folder_(other.folder_),
      force_(other.force_),
      committed_(std::exchange(other.committed_, true)) {}

OutputFile::~OutputFile() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

void OutputFile::commit() {
  if (folder_) {
    for (const auto& entry : fs::directory_iterator(temporary_)) sync_path(entry.path().string(), path_);
  }
  sync_path(temporary_, path_);
  const bool swap =
      force_ && exists(path_) && (folder_ || is_folder(path_));  // rename replaces only files by files
  const int error = rename_with(temporary_, path_, swap ? RENAME_EXCHANGE : force_ ? 0 : RENAME_NOREPLACE);
  if (error == EEXIST && !force_) throw UsageError(path_ + " exists: give --force to replace it");
  if (error != 0) throw RunError(system_message(path_, error));
  committed_ = true;
  if (swap) fs::remove_all(temporary_);
  sync_path(folder_of(path_), path_);
}

}  // namespace sluice::io

#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "engine/core/error.hpp"
#include "io/descriptor.hpp"

namespace sluice::io {
namespace {

namespace fs = std::filesystem;

void sync_path(const std::string& path, const std::string& display_path) {
  Descriptor(path, O_RDONLY, display_path).sync();
}

/// --force must not delete a user's other folders or a device file: only what looks like a result is
/// replaced.
void refuse_non_result(const std::string& path, mode_t mode) {
  if (S_ISREG(mode) || S_ISLNK(mode)) return;
  if (!S_ISDIR(mode)) throw UsageError(path + " is not a regular file: choose another name");
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

std::optional<struct stat> status_of(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? std::optional(found) : std::nullopt;
}

bool is_folder(const std::string& path) {
  const auto found = status_of(path);
  return found && S_ISDIR(found->st_mode);
}

bool is_same_file(const std::string& a, const std::string& b) {
  const auto first = status_of(a), second = status_of(b);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

/// Whether the error means that the file system, such as NFS, lacks these flags of renameat2.
bool lacks_flags(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/// rename_new() for a file, with calls that every file system has; none of them replaces a file.
int link_new(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0 || (errno == EEXIST && is_same_file(from, to))) {
    ::unlink(from.c_str());
    return 0;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  // Without hard links, an empty file reserves the name.
  const int claimed = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (claimed < 0) return errno;
  ::close(claimed);
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(to.c_str());
  return error;
}

/// Renames `from` to the existing `to`, where either is a folder, and removes what was there. Returns 0 or an
/// errno.
int replace(const std::string& from, const std::string& to) {
  std::string old = from;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    if (!lacks_flags(errno)) return errno;
    old = from + ".old";
    if (::rename(to.c_str(), old.c_str()) != 0) return errno;
    if (::rename(from.c_str(), to.c_str()) != 0) {
      const int error = errno;
      if (::rename(old.c_str(), to.c_str()) == 0) return error;
      throw RunError(system_message(to, error) + "; the previous file is now " + old);
    }
  }
  sync_folder_of(to);
  std::error_code ignored;
  fs::remove_all(old, ignored);
  return 0;
}

std::string make_tag() {
  char host[HOST_NAME_MAX + 1] = {};
  std::string name = ::gethostname(host, sizeof host - 1) == 0 ? host : "host";
  std::replace(name.begin(), name.end(), '/', '_');
  struct stat space {};
  const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
  std::random_device random;
  return fmt::format("{}-{}-{}-{:08x}{:08x}", name, known ? space.st_ino : 0, ::getpid(), random(), random());
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

const std::string& temporary_tag() {
  static const std::string tag = make_tag();
  return tag;
}

void sync_folder_of(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

int rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (!lacks_flags(errno)) return errno;
  if (!is_folder(from)) return link_new(from, to);
  // rename(2) of a folder replaces an empty folder at most.
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
}

OutputFile::OutputFile(std::string path, bool force, bool folder)
    : path_(name_of(std::move(path))), folder_(folder), force_(force) {
  require_free(path_, force);
  temporary_ = temporary_of(path_, temporary_tag());
  if (folder_) {
    if (::mkdir(temporary_.c_str(), 0777) != 0) throw RunError(system_message(path_, errno));
  } else {
    Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL, path_).close();
  }
}

void OutputFile::require_free(const std::string& path, bool force) {
  const std::string name = name_of(path);
  if (name.empty()) throw UsageError("the name of the output file is empty");
  struct stat found {};
  if (::lstat(name.c_str(), &found) == 0) {
    if (!force) throw UsageError(name + " exists: use --force to replace it");
    refuse_non_result(name, found.st_mode);
  } else if (errno != ENOENT) {
    throw RunError(system_message(name, errno));
  }
}

std::string OutputFile::name_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string OutputFile::temporary_of(const std::string& path, const std::string& tag) {
  constexpr long kUsualLimit = 255,
                 kSuffixReserve = 32;  // kSuffixReserve: for suffixes of scratch files and others
  const long limit = ::pathconf(folder_of(path).c_str(), _PC_NAME_MAX);
  const std::string suffix = ".partial-" + tag;
  const std::string name = fs::path(path).filename();
  const auto longest = static_cast<std::size_t>((limit > 0 ? limit : kUsualLimit) - kSuffixReserve);
  if (name.size() + suffix.size() <= longest) return path + suffix;
  const std::string shorter = fmt::format("sluice-{:016x}", std::hash<std::string>()(name));
  return (fs::path(path).parent_path() / (shorter + suffix)).string();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      folder_(other.folder_),
      force_(other.force_),
      finished_(other.finished_),
      committed_(std::exchange(other.committed_, true)) {}

OutputFile::~OutputFile() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

void OutputFile::finish() {
  if (std::exchange(finished_, true)) return;
  if (folder_) {
    for (const auto& entry : fs::directory_iterator(temporary_)) sync_path(entry.path().string(), path_);
  }
  sync_path(temporary_, path_);
}

void OutputFile::commit() {
  finish();
  int error = 0;
  if (!force_) {
    error = rename_new(temporary_, path_);
    if (error == EEXIST) throw UsageError(path_ + " exists: use --force to replace it");
  } else if (status_of(path_) && (folder_ || is_folder(path_))) {
    error = replace(temporary_, path_);
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {  // rename(2) replaces a file by a file
    error = errno;
  }
  if (error != 0) throw RunError(system_message(path_, error));
  committed_ = true;
  sync_folder_of(path_);
}

}  // namespace sluice::io

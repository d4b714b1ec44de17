// The one way to create an output file: temporary file beside it, fsync, rename, fsync of the folder.
#pragma once

#include <string>

namespace sluice::io {

/// Distinguishes the temporary files of this process from those of any other, on any machine and in any
/// container: HOST-NAMESPACE-PROCESS-RANDOM.
const std::string& temporary_tag();

/// The folder of a file; `.` if its path names none.
std::string folder_of(const std::string& path);

/// Renames `from` to `to` if `to` does not exist. Returns 0 or an errno; EEXIST: it exists.
int rename_new(const std::string& from, const std::string& to);

/// Syncs the folder of `path` to disk, so that names in it survive a crash of the machine. A folder without
/// read permission cannot be synced; the system then writes its names in its own time.
void sync_folder_of(const std::string& path);

/// A file (or folder) that appears under its final name only when complete. Throws UsageError if `path`
/// exists and `force` is false; RunError with the path and the system's reason for other faults. With
/// `force`, commit() replaces an older file, or folder of results, in one step; a device, or a folder that
/// holds anything else, is refused (UsageError).
class OutputFile {
 public:
  OutputFile(std::string path, bool force, bool folder = false);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();  ///< removes the temporary unless committed

  /// `path` without slashes at its end.
  static std::string name_of(std::string path);
  /// Throws as the constructor does if the name cannot be used.
  static void require_free(const std::string& path, bool force);
  /// The temporary file name for `path` in a process with this tag.
  static std::string temporary_of(const std::string& path, const std::string& tag);

  const std::string& temporary() const { return temporary_; }  ///< write here
  const std::string& path() const { return path_; }
  void finish();  ///< fsync: only the rename remains
  void commit();  ///< finish(), rename, fsync of the folder; errors after the rename are ignored

 private:
  std::string path_, temporary_;
  bool folder_ = false, force_ = false, finished_ = false, committed_ = false;
};

}  // namespace sluice::io

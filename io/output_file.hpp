// One way to create an output file: temporary beside it, fsync, rename, fsync of the folder.
#pragma once

#include <string>

namespace sluice::io {

/// Distinguishes the temporaries of this process from those of any other, on whatever machine and in whatever
/// container: HOST-NAMESPACE-PROCESS-RANDOM.
const std::string& temporary_tag();

/// The folder of a file: `.` where its path names none.
std::string folder_of(const std::string& path);

/// Gives `from` the name `to` unless that is taken. Returns 0, or the system's reason: EEXIST where it is.
int rename_new(const std::string& from, const std::string& to);

/// Writes the folder of `path` to the disk, so that names in it outlast a crash of the machine. A folder that
/// may not be read cannot be synced: there names take the system's time.
void sync_folder_of(const std::string& path);

/// A file (or folder) that appears under its final name only when complete.
/// Throws UsageError if `path` exists and not `force`; RunError with the path and the system's reason
/// otherwise. With `force` an older file, or folder of results, is replaced at commit() in one step; a
/// device, or a folder that holds anything else, is refused (UsageError).
class OutputFile {
 public:
  OutputFile(std::string path, bool force, bool folder = false);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();  ///< removes the temporary unless committed

  /// The name as it is used: without a slash at its end.
  static std::string name_of(std::string path);
  /// Throws as the constructor does where the name cannot be taken.
  static void require_free(const std::string& path, bool force);
  /// The temporary that a process of this tag makes for a path.
  static std::string temporary_of(const std::string& path, const std::string& tag);

  const std::string& temporary() const { return temporary_; }  ///< write here
  const std::string& path() const { return path_; }
  void finish();  ///< fsync: after it nothing but the name is missing
  void commit();  ///< finish(), rename, fsync of the folder; what follows the rename is no failure

 private:
  std::string path_, temporary_;
  bool folder_ = false, force_ = false, finished_ = false, committed_ = false;
};

}  // namespace sluice::io

// One way to create an output file: temporary beside it, fsync, rename, fsync of the folder.
#pragma once

#include <string>

namespace sluice::io {

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
  /// The temporary that a process makes for a path.
  static std::string temporary_of(const std::string& path, long process);

  const std::string& temporary() const { return temporary_; }  ///< write here
  const std::string& path() const { return path_; }
  void commit();  ///< fsync, rename, fsync of the folder

 private:
  std::string path_, temporary_;
  bool folder_ = false, force_ = false, committed_ = false;
};

}  // namespace sluice::io

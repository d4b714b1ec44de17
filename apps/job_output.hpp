// Where the results of all ranks go: one file that has the bytes of a single process's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common_options.hpp"
#include "io/result_writer.hpp"

namespace sluice::apps {

/// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  /// Throws RunError naming the path.
  explicit TemporaryFolder(std::string path);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class JobOutput {
 public:
  /// Claims the output's name. All ranks call it; `attributes` are those of the whole.
  JobOutput(const CommonOptions& options, const std::vector<io::Attribute>& attributes,
            const std::vector<std::string>& text_columns);

  /// Takes what this rank has: its instances, in order.
  io::ResultWriter& writer() { return *writer_; }
  /// Waits for all ranks, puts their shares together, and gives the output its name.
  void commit();
  std::uint64_t bytes_written() const { return writer_->bytes_written(); }

 private:
  std::string share_of(int rank) const;
  void collect();

  std::string output_;
  std::optional<TemporaryFolder> owned_;  ///< the leader's
  std::string folder_;
  std::unique_ptr<io::ResultWriter> writer_;
};

}  // namespace sluice::apps

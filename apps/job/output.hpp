// Where the results of all ranks go: one file that has the bytes of a single process's, or a file for each
// rank and one that shows them all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "io/output_file.hpp"
#include "io/results/result_writer.hpp"

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

/// What a result file says of itself: of the whole, and of this rank's share.
struct OutputAttributes {
  std::vector<io::Attribute> whole, share;
};

/// All ranks make one, and then commit it.
class JobOutput {
 public:
  virtual ~JobOutput() = default;
  /// Takes what this rank has: its instances, in order.
  io::ResultWriter& writer() { return *writer_; }
  /// All ranks note the same, for the output and for each share of it.
  virtual void note(const io::Attribute& attribute) { writer_->note(attribute); }
  /// Waits for all ranks and puts their shares together: after it nothing but the name is missing.
  virtual void finish() = 0;
  /// Rank 0 gives the output its name.
  virtual void commit() = 0;
  /// What this rank has written, and how much of it is in the results.
  virtual std::uint64_t bytes_written() const { return writer_->bytes_written(); }
  virtual std::uint64_t result_bytes() const { return bytes_written(); }

 protected:
  std::unique_ptr<io::ResultWriter> writer_;
};

/// Claims the output's name. Throws UsageError where it is taken, or where the layout does not go with the
/// format.
std::unique_ptr<JobOutput> open_output(const CommonOptions& options, const OutputAttributes& attributes,
                                       const std::vector<std::string>& text_columns);

/// Where ranks' files lie with --output-layout sharded; nothing for standard output.
std::string folder_of_shards(const std::string& output);

/// Where shares of ranks wait in a job of this tag (io::temporary_tag() of rank 0): beside the output, or,
/// where that is a stream, in `scratch`, or among temporary files. There each machine has its own.
std::string folder_of_ranks(const std::string& output, const std::string& scratch, const std::string& tag);

/// Whatever such a job may have begun for an output.
std::vector<std::string> temporaries_of(const std::string& output, const std::string& scratch,
                                        const std::string& tag);

}  // namespace sluice::apps

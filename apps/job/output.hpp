// The output of all ranks: one file with the same bytes as that of a single process, or one file per rank and
// a file that joins them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "io/output_file.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

/// A folder that its owner's destructor removes.
class TemporaryFolder {
 public:
  /// Creates the folder. Throws RunError naming the path.
  explicit TemporaryFolder(std::string path);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Attributes of a result file: of the whole output, and of this rank's share.
struct OutputAttributes {
  std::vector<io::Attribute> whole, share;
};

/// The output of a job. All ranks create one, then finish it.
class JobOutput {
 public:
  virtual ~JobOutput() = default;
  /// Receives this rank's instances, in order.
  io::ResultWriter& writer() { return *writer_; }
  /// Adds an attribute to the output and to each share. All ranks add the same.
  virtual void note(const io::Attribute& attribute) { writer_->add_attribute(attribute); }
  /// Waits for all ranks and joins their shares; only the rename remains.
  virtual void finish() = 0;
  /// Gives the output its name. Rank 0 calls it.
  virtual void commit() = 0;
  /// The bytes that this rank has written, and those among them that are in the results.
  virtual std::uint64_t bytes_written() const { return writer_->bytes_written(); }
  virtual std::uint64_t result_bytes() const { return bytes_written(); }

 protected:
  std::unique_ptr<io::ResultWriter> writer_;
};

/// Claims the output's name. Throws UsageError if it is taken, or if the format does not support the layout.
std::unique_ptr<JobOutput> open_output(const CommonOptions& options, const OutputAttributes& attributes,
                                       const std::vector<std::string>& text_columns);

/// The folder of the ranks' files with --output-layout sharded; empty for standard output.
std::string folder_of_shards(const std::string& output);

/// The folder of the ranks' shares until they are joined, in a job of this tag (io::temporary_tag() of rank
/// 0). It is beside the output; for standard output, in `scratch` or the system's temporary folder, one per
/// machine.
std::string folder_of_ranks(const std::string& output, const std::string& scratch, const std::string& tag);

/// All temporary names that such a job may have created for an output.
std::vector<std::string> temporaries_of(const std::string& output, const std::string& scratch,
                                        const std::string& tag);

}  // namespace sluice::apps

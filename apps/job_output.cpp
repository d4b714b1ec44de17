#include "apps/job_output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "apps/errors.hpp"
#include "apps/ranks.hpp"
#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "io/result_shard.hpp"

namespace sluice::apps {

namespace {

namespace fs = std::filesystem;

/// Shares wait beside the output, or, where that is a stream, among temporary files.
std::string folder_beside(const std::string& output) {
  const std::string place = output == "-" ? (fs::temp_directory_path() / "sluice").string() : output;
  return fmt::format("{}.partial-{}.ranks", place, ::getpid());
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  fs::remove_all(path_, ignored);  // left by a killed run that had the same process id
  if (::mkdir(path_.c_str(), 0777) != 0) throw RunError(io::system_message(path_, errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

JobOutput::JobOutput(const CommonOptions& options, const std::vector<io::Attribute>& attributes,
                     const std::vector<std::string>& text_columns)
    : output_(options.output) {
  if (world().leads()) {
    writer_ = io::make_result_writer(options.output, options.format, options.force, attributes, text_columns);
    if (world().size() > 1) owned_.emplace(folder_beside(options.output));
  }
  folder_ = broadcast_text(world(), owned_ ? owned_->path() : "", 0, "the output's name");
  if (!world().leads()) writer_ = io::make_shard_results(share_of(world().rank()), options.output);
}

std::string JobOutput::share_of(int rank) const {
  return fmt::format("{}/{}", folder_, rank);
}

void JobOutput::collect() {
  for (int rank = 1; rank < world().size(); ++rank) {
    throw_if_stopped();
    const std::string share = share_of(rank);
    if (!fs::exists(share)) {
      throw RunError(
          fmt::format("{}: rank {} put its share there, but rank 0 cannot see it (choose an output "
                      "on a file system that all nodes share)",
                      share, rank));
    }
    io::replay_shard(share, *writer_);
    fs::remove(share);  // one share at a time is there twice
  }
}

void JobOutput::commit() {
  if (!world().leads()) writer_->commit();
  world().barrier("the results of all ranks", kUnlimited);
  if (!world().leads()) return;
  collect();
  writer_->commit();
}

}  // namespace sluice::apps

#include "apps/job_output.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "apps/errors.hpp"
#include "apps/ranks.hpp"
#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "io/join_shards.hpp"
#include "io/result_shard.hpp"

namespace sluice::apps {

namespace {

namespace fs = std::filesystem;

/// Rank 0 alone sees that the others' files are there only if all write to one file system.
void require_visible(const std::string& share, int rank) {
  if (fs::exists(share)) return;
  throw RunError(
      fmt::format("{}: rank {} put its share there, but rank 0 cannot see it (choose an output on a "
                  "file system that all nodes share)",
                  share, rank));
}

/// One file. Rank 0 writes it while it makes its own share, and appends what the others have logged.
class SingleOutput final : public JobOutput {
 public:
  SingleOutput(const CommonOptions& options, const OutputAttributes& attributes,
               const std::vector<std::string>& text_columns) {
    if (world().leads()) {
      const auto held = hold_end();
      writer_ = io::make_result_writer(options.output, options.format, options.force, attributes.whole,
                                       text_columns, options.scratch);
      if (world().size() > 1)
        owned_.emplace(folder_of_ranks(options.output, options.scratch, io::temporary_tag()));
    }
    folder_ = broadcast_text(world(), owned_ ? owned_->path() : "", 0, "the output's name");
    if (!world().leads()) writer_ = io::make_shard_results(share_of(world().rank()), options.output);
  }

  void finish() override {
    if (!world().leads()) writer_->commit();
    world().barrier("the results of all ranks");
    if (!world().leads()) return;
    collect();
    writer_->finish();
  }
  void commit() override { writer_->commit(); }

  std::uint64_t result_bytes() const override { return world().leads() ? bytes_written() : 0; }

 private:
  std::string share_of(int rank) const { return fmt::format("{}/{}", folder_, rank); }

  void collect() {
    for (int rank = 1; rank < world().size(); ++rank) {
      throw_if_stopped();
      const std::string share = share_of(rank);
      require_visible(share, rank);
      io::replay_shard(share, *writer_);
      fs::remove(share);  // one share at a time is there twice
    }
  }

  std::optional<TemporaryFolder> owned_;  // rank 0's
  std::string folder_;
};

/// A folder of result files, each as --instance-range would have made it, and a file that joins them. Both
/// get their names from rank 0, at the end.
class ShardedOutput final : public JobOutput {
 public:
  ShardedOutput(const CommonOptions& options, const OutputAttributes& attributes) : whole_(attributes.whole) {
    if (world().leads()) {
      const auto held = hold_end();
      joined_.emplace(options.output, options.force);
      shards_.emplace(folder_of_shards(joined_->path()), options.force, true);
    }
    folder_ = broadcast_text(world(), shards_ ? shards_->temporary() : "", 0, "the output's name");
    writer_ = io::make_result_writer(folder_ + "/" + name_of_share(world().rank()), io::ResultFormat::h5,
                                     false, attributes.share);
  }

  void note(const io::Attribute& attribute) override {
    JobOutput::note(attribute);
    whole_.push_back(attribute);
  }

  void finish() override {
    writer_->commit();
    world().barrier("the results of all ranks");
    if (!world().leads()) return;
    throw_if_stopped();
    std::vector<io::ShardFile> shards;
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::string name = name_of_share(rank);
      require_visible(folder_ + "/" + name, rank);
      shards.push_back({folder_ + "/" + name, fs::path(shards_->path()).filename() / name});
    }
    written_ =
        io::join_shards(joined_->temporary(), joined_->path(), shards, whole_, writer_->offset_names());
    joined_->finish();
    shards_->finish();
  }

  void commit() override {
    shards_->commit();
    joined_->commit();
  }

  std::uint64_t bytes_written() const override { return writer_->bytes_written() + written_; }

 private:
  static std::string name_of_share(int rank) { return fmt::format("{:05}.h5", rank); }

  std::vector<io::Attribute> whole_;
  std::optional<io::OutputFile> joined_, shards_;  // rank 0's
  std::string folder_;
  std::uint64_t written_ = 0;
};

}  // namespace

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {
  if (::mkdir(path_.c_str(), 0777) != 0) throw RunError(io::system_message(path_, errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string folder_of_shards(const std::string& output) {
  if (output.empty() || output == "-") return "";
  return io::OutputFile::name_of(output) + ".shards";
}

std::string folder_of_ranks(const std::string& output, const std::string& scratch, const std::string& tag) {
  if (output != "-") return io::OutputFile::temporary_of(io::OutputFile::name_of(output), tag) + ".ranks";
  const fs::path folder = scratch.empty() ? fs::temp_directory_path() : fs::path(scratch);
  return io::OutputFile::temporary_of((folder / "sluice").string(), tag) +
         fmt::format(".{}.ranks", world().node_leader());
}

std::vector<std::string> temporaries_of(const std::string& output, const std::string& scratch,
                                        const std::string& tag) {
  std::vector<std::string> all{folder_of_ranks(output, scratch, tag)};
  if (output == "-") return all;
  for (const auto& name : {io::OutputFile::name_of(output), folder_of_shards(output)})
    all.push_back(io::OutputFile::temporary_of(name, tag));
  return all;
}

std::unique_ptr<JobOutput> open_output(const CommonOptions& options, const OutputAttributes& attributes,
                                       const std::vector<std::string>& text_columns) {
  if (options.output_layout == OutputLayout::single) {
    return std::make_unique<SingleOutput>(options, attributes, text_columns);
  }
  if (options.format != io::ResultFormat::h5) {
    throw UsageError(
        "--output-layout sharded is for --format h5: nothing joins .npy files or text (leave it out)");
  }
  return std::make_unique<ShardedOutput>(options, attributes);
}

}  // namespace sluice::apps

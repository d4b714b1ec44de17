#include "apps/job/output.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "apps/cli/errors.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "io/results/join_shards.hpp"
#include "io/results/result_shard.hpp"

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

/// A file that was among the shards before the job.
struct OldShard {
  fs::path path;
  ino_t node = 0;
};

std::optional<ino_t> node_of(const fs::path& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? std::optional(found.st_ino) : std::nullopt;
}

/// Throws UsageError where the folder of shards holds anything else.
std::vector<OldShard> shards_in(const std::string& folder) {
  std::error_code absent;
  if (!fs::exists(folder, absent)) return {};
  if (!fs::is_directory(folder)) throw UsageError(folder + " is no folder: choose another name");
  io::OutputFile::require_free(folder, true);
  std::vector<OldShard> all;
  for (const auto& entry : fs::directory_iterator(folder))
    all.push_back({entry.path(), node_of(entry.path()).value_or(0)});
  return all;
}

/// A folder of result files, each as --instance-range would have made it, and a file that joins them. Rank 0
/// puts the new ones beside those that are there, under other names; then the joining file gets its name, in
/// one step, and --force removes the old ones. So it always shows shards that belong to it.
class ShardedOutput final : public JobOutput {
 public:
  ShardedOutput(const CommonOptions& options, const OutputAttributes& attributes)
      : whole_(attributes.whole), force_(options.force) {
    if (world().leads()) {
      const auto held = hold_end();
      joined_.emplace(options.output, options.force);
      shards_ = folder_of_shards(joined_->path());
      old_ = shards_in(shards_);
      work_.emplace(io::OutputFile::temporary_of(shards_, io::temporary_tag()));
    }
    folder_ = broadcast_text(world(), work_ ? work_->path() : "", 0, "the output's name");
    writer_ = io::make_result_writer(folder_ + "/" + name_of_share(world().rank(), 0), io::ResultFormat::h5,
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
    std::erase_if(old_, [](const OldShard& old) { return node_of(old.path) != old.node; });
    const unsigned generation = free_generation();
    const fs::path relative = fs::path(shards_).filename();
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::string now = folder_ + "/" + name_of_share(rank, 0);
      require_visible(now, rank);
      made_.push_back({now, relative / name_of_share(rank, generation)});
    }
    written_ = io::join_shards(joined_->temporary(), joined_->path(), made_, whole_, writer_->offset_names());
    joined_->finish();
  }

  void commit() override {
    if (::mkdir(shards_.c_str(), 0777) != 0 && errno != EEXIST)
      throw RunError(io::system_message(shards_, errno));
    std::vector<fs::path> placed;
    try {
      for (const io::ShardFile& shard : made_) {
        const fs::path place = fs::path(shards_).parent_path() / shard.name;
        if (const int error = io::rename_new(shard.path, place); error != 0)
          throw RunError(io::system_message(place, error));
        placed.push_back(place);
      }
      io::sync_folder_of(placed.back());
      joined_->commit();
    } catch (...) {
      for (const fs::path& place : placed) ::unlink(place.c_str());
      ::rmdir(shards_.c_str());
      throw;
    }
    if (force_) remove_old();
  }

  std::uint64_t bytes_written() const override { return writer_->bytes_written() + written_; }

 private:
  static std::string name_of_share(int rank, unsigned generation) {
    return generation == 0 ? fmt::format("{:05}.h5", rank) : fmt::format("{:05}-{}.h5", rank, generation);
  }

  /// The first whose names are all free.
  unsigned free_generation() const {
    const auto taken = [&](unsigned generation) {
      for (int rank = 0; rank < world().size(); ++rank) {
        if (node_of(fs::path(shards_) / name_of_share(rank, generation))) return true;
      }
      return false;
    };
    unsigned generation = 0;
    while (taken(generation)) ++generation;
    return generation;
  }

  /// What another job has put there in between is left.
  void remove_old() const {
    for (const OldShard& old : old_) {
      if (node_of(old.path) == old.node) ::unlink(old.path.c_str());
    }
  }

  std::vector<io::Attribute> whole_;
  bool force_;
  std::optional<io::OutputFile> joined_;  // rank 0's, and what follows
  std::optional<TemporaryFolder> work_;
  std::string shards_;
  std::vector<OldShard> old_;
  std::vector<io::ShardFile> made_;
  std::uint64_t written_ = 0;
  std::string folder_;
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

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

namespace sluice::apps {

namespace {

namespace fs = std::filesystem;

/// Throws RunError if rank 0 cannot see a rank's file, as when they do not share a file system.
void require_visible(const std::string& share, int rank) {
  if (fs::exists(share)) return;
  throw RunError(
      fmt::format("{}: rank {} wrote its part, but rank 0 cannot see it (choose an output on a "
                  "file system that all nodes share)",
                  share, rank));
}

std::optional<ino_t> node_of(const fs::path& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? std::optional(found.st_ino) : std::nullopt;
}

/// The files in the folder of shards from before the job.
class OldShards {
 public:
  OldShards() = default;
  explicit OldShards(std::string folder) : folder_(std::move(folder)) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder_, absent))
      all_.push_back({entry.path(), node_of(entry.path()).value_or(0)});
  }

  /// Drops entries whose names no job gives; jobs give 00002.h5, or 00002-1.h5 where that was taken.
  void keep_only_shards() {
    std::erase_if(all_, [](const Shard& old) {
      const std::string stem = old.path.stem().string();
      return old.path.extension() != ".h5" || stem.find_first_not_of("0123456789-") != stem.npos;
    });
  }
  /// Drops entries that others have removed or replaced since.
  void drop_changed() {
    std::erase_if(all_, [](const Shard& old) { return node_of(old.path) != old.node; });
  }
  /// Removes the files, and the folder if it is then empty.
  void remove() {
    drop_changed();
    for (const Shard& old : all_) ::unlink(old.path.c_str());
    if (!all_.empty()) ::rmdir(folder_.c_str());
  }

 private:
  struct Shard {
    fs::path path;
    ino_t node = 0;
  };
  std::string folder_;
  std::vector<Shard> all_;
};

/// The old shards in `folder`. Throws UsageError if it is no folder or holds anything else.
OldShards shards_in(const std::string& folder) {
  std::error_code absent;
  if (!fs::exists(folder, absent)) return {};
  if (!fs::is_directory(folder)) throw UsageError(folder + " is not a folder: choose another name");
  io::OutputFile::require_free(folder, true);
  return OldShards(folder);
}

/// The shards of an output that a single file replaces.
OldShards replaced_shards(const std::string& output) {
  std::error_code absent;
  if (output == "-" || !fs::exists(io::OutputFile::name_of(output), absent)) return {};
  OldShards old(folder_of_shards(output));
  old.keep_only_shards();
  return old;
}

/// A single file. Rank 0 writes its own share to it directly, and appends what the other ranks have logged.
class SingleOutput final : public JobOutput {
 public:
  SingleOutput(const CommonOptions& options, const OutputAttributes& attributes,
               const std::vector<std::string>& text_columns) {
    if (world().is_root()) {
      const auto end_lock = lock_forced_end();
      if (options.force) old_ = replaced_shards(options.output);
      writer_ = io::make_result_writer(options.output, options.format, options.force, attributes.whole,
                                       text_columns, options.scratch);
      if (world().size() > 1)
        rank_folder_.emplace(folder_of_ranks(options.output, options.scratch, io::temporary_tag()));
    }
    folder_ = broadcast_text(world(), rank_folder_ ? rank_folder_->path() : "", 0, "the output's name");
    if (!world().is_root()) writer_ = io::make_shard_results(path_of_rank(world().rank()), options.output);
  }

  void finish() override {
    if (!world().is_root()) writer_->commit();
    world().barrier("the results of all ranks");
    if (!world().is_root()) return;
    collect();
    writer_->finish();
  }
  void commit() override {
    writer_->commit();
    old_.remove();
  }

  std::uint64_t result_bytes() const override { return world().is_root() ? bytes_written() : 0; }

 private:
  std::string path_of_rank(int rank) const { return fmt::format("{}/{}", folder_, rank); }

  void collect() {
    for (int rank = 1; rank < world().size(); ++rank) {
      throw_if_stopped();
      const std::string share = path_of_rank(rank);
      require_visible(share, rank);
      io::replay_shard(share, *writer_);
      fs::remove(share);  // so only one share at a time exists twice
    }
  }

  std::optional<TemporaryFolder> rank_folder_;  // rank 0 only, as the next
  OldShards old_;
  std::string folder_;
};

/// A folder of result files, each as --instance-range would write it, and a file that joins them. Rank 0 adds
/// the new shards under unused names. Then it renames the joining file, in one step, and with --force removes
/// the old shards. So the joining file always refers to its own shards.
class ShardedOutput final : public JobOutput {
 public:
  ShardedOutput(const CommonOptions& options, const OutputAttributes& attributes)
      : whole_(attributes.whole), force_(options.force) {
    if (world().is_root()) {
      const auto end_lock = lock_forced_end();
      joined_.emplace(options.output, options.force);
      shards_ = folder_of_shards(joined_->path());
      old_ = shards_in(shards_);
      work_folder_.emplace(io::OutputFile::temporary_of(shards_, io::temporary_tag()));
    }
    folder_ = broadcast_text(world(), work_folder_ ? work_folder_->path() : "", 0, "the output's name");
    writer_ = io::make_result_writer(folder_ + "/" + name_of_shard(world().rank(), 0), io::ResultFormat::h5,
                                     false, attributes.share);
  }

  void note(const io::Attribute& attribute) override {
    JobOutput::note(attribute);
    whole_.push_back(attribute);
  }

  void finish() override {
    writer_->commit();
    world().barrier("the results of all ranks");
    if (!world().is_root()) return;
    throw_if_stopped();
    old_.drop_changed();
    const unsigned generation = free_generation();
    const fs::path relative = fs::path(shards_).filename();
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::string path = folder_ + "/" + name_of_shard(rank, 0);
      require_visible(path, rank);
      new_shards_.push_back({path, relative / name_of_shard(rank, generation)});
    }
    joined_bytes_ =
        io::join_shards(joined_->temporary(), joined_->path(), new_shards_, whole_, writer_->offset_names());
    joined_->finish();
  }

  void commit() override {
    if (::mkdir(shards_.c_str(), 0777) != 0 && errno != EEXIST)
      throw RunError(io::system_message(shards_, errno));
    std::vector<fs::path> renamed;
    try {
      for (const io::ShardFile& shard : new_shards_) {
        const fs::path target = fs::path(shards_).parent_path() / shard.name;
        if (const int error = io::rename_new(shard.path, target); error != 0)
          throw RunError(io::system_message(target, error));
        renamed.push_back(target);
      }
      io::sync_folder_of(renamed.back());
      joined_->commit();
    } catch (...) {
      for (const fs::path& target : renamed) ::unlink(target.c_str());
      ::rmdir(shards_.c_str());
      throw;
    }
    if (force_) old_.remove();
  }

  std::uint64_t bytes_written() const override { return writer_->bytes_written() + joined_bytes_; }

 private:
  static std::string name_of_shard(int rank, unsigned generation) {
    return generation == 0 ? fmt::format("{:05}.h5", rank) : fmt::format("{:05}-{}.h5", rank, generation);
  }

  /// The lowest generation whose names are all free.
  unsigned free_generation() const {
    const auto is_taken = [&](unsigned generation) {
      for (int rank = 0; rank < world().size(); ++rank) {
        if (node_of(fs::path(shards_) / name_of_shard(rank, generation))) return true;
      }
      return false;
    };
    unsigned generation = 0;
    while (is_taken(generation)) ++generation;
    return generation;
  }

  std::vector<io::Attribute> whole_;
  bool force_;
  std::optional<io::OutputFile> joined_;  // rank 0 only, as the next five
  std::optional<TemporaryFolder> work_folder_;
  std::string shards_;
  OldShards old_;
  std::vector<io::ShardFile> new_shards_;
  std::uint64_t joined_bytes_ = 0;
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
        "--output-layout sharded is for --format h5: nothing joins .npy files or text (omit it)");
  }
  return std::make_unique<ShardedOutput>(options, attributes);
}

}  // namespace sluice::apps

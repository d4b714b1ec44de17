#include "apps/bench/replay/graphs.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "apps/job/output.hpp"
#include "apps/job/ranks.hpp"
#include "io/convert/convert.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/output_file.hpp"

namespace sluice::bench {

namespace {

namespace fs = std::filesystem;

/// Number of edges passed to the conversion at a time.
constexpr std::uint64_t kEdgesAtOnce = 1u << 16;
/// Batches that are merged while edges are read. After this number the file is rewritten, because each read
/// scans all of them.
constexpr unsigned kMaxBatchesPerFile = 16;

/// The first edges, as an input of a conversion.
class FirstEdges final : public io::EdgeStream {
 public:
  FirstEdges(const TemporalSource& edges, std::uint64_t count) : edges_(edges), count_(count) {
    info_.vertices = edges.vertices();
    info_.origin = "a replay";
  }
  const io::EdgeStreamInfo& info() const override { return info_; }
  bool next(io::EdgeBatch& batch) override {
    const std::uint64_t size = std::min(count_ - done_, kEdgesAtOnce);
    source_.resize(size), target_.resize(size);
    edges_.read(done_, source_, target_);
    batch.clear();
    batch.source.assign(source_.begin(), source_.end());
    batch.target.assign(target_.begin(), target_.end());
    done_ += size;
    return size > 0;
  }

 private:
  const TemporalSource& edges_;
  std::uint64_t count_, done_ = 0;
  io::EdgeStreamInfo info_;
  std::vector<Vertex> source_, target_;
};

class FileReplayGraphs final : public ReplayGraphs {
 public:
  FileReplayGraphs(bool in_file, const apps::CommonOptions& common) : in_file_(in_file) {
    // All ranks of the machine know this name, so it is removed even if the job is forced to end.
    const std::string tag = broadcast_text(apps::world(), io::temporary_tag(), 0, "a folder for the graph");
    if (writes()) folder_.emplace(apps::folder_of_ranks("-", common.scratch, tag));
    const auto folders = apps::world().all_gather(folder_ ? folder_->path() : "", "a folder for the graph");
    path_ = folders[static_cast<std::size_t>(apps::world().node_leader())] + "/graph.h5";
  }

  Graph first(const TemporalSource& edges, std::uint64_t count, unsigned threads) override {
    return write_and_read([&] {
      io::ConvertOptions options;
      options.compact = false, options.keep_self_loops = true, options.reverse = true;
      options.threads = threads, options.force = true;
      FirstEdges source(edges, count);
      io::convert(source, path_, options);
    });
  }

  Graph store(Graph graph) override {
    if (!in_file_ || ++batches_ % kMaxBatchesPerFile != 0) return graph;
    return write_and_read([&] { io::write_graph(path_, graph, true); });
  }

 private:
  static bool writes() { return apps::world().node_rank() == 0; }

  /// One rank of the machine calls write(), and all open the file; an open file needs no name.
  template <class Write>
  Graph write_and_read(Write&& write) {
    if (writes()) write();
    apps::world().barrier("the graph of the replay");
    Graph graph = in_file_ ? io::open_graph(path_, {.in = true}) : io::read_graph(path_, {.in = true});
    apps::world().barrier("the graph of the replay");
    if (writes()) fs::remove(path_);
    return graph;
  }

  bool in_file_;
  std::optional<apps::TemporaryFolder> folder_;
  std::string path_;
  unsigned batches_ = 0;
};

}  // namespace

ReplayMemory::ReplayMemory(const TemporalSource& edges, const ReplayOptions& options) {
  const ReplaySizes sizes(edges, options);
  const auto lists = [&](std::uint64_t count) {
    return (edges.vertices() + 1) * sizeof(EdgeIndex) + count * sizeof(Vertex);
  };
  // Memory for a batch of `count` insertions, without the lists.
  const auto batch = [](std::uint64_t count) {
    return size_of_update(Graph(), count, 0).peak_bytes + count * 2 * sizeof(Vertex);
  };
  graph_bytes = 2 * lists(edges.size());
  update_bytes = lists(edges.size()) + batch(sizes.batch);
  build_bytes = 2 * lists(sizes.first) + batch(sizes.first);
  file_bytes = 2 * lists(0);
}

std::uint64_t ReplayMemory::needed(ReplayGraphStorage storage, std::uint64_t other_bytes) const {
  const std::uint64_t stored = storage == ReplayGraphStorage::in_file ? file_bytes : graph_bytes;
  const std::uint64_t build =
      storage == ReplayGraphStorage::built_in_memory ? build_bytes : io::kMinConversionMemory;
  return std::max(build, stored + update_bytes + other_bytes);
}

ReplayGraphStorage choose_replay_storage(const ReplayMemory& memory, std::uint64_t other_bytes,
                                         const apps::CommonOptions& common) {
  const std::uint64_t available = host_budget().available();
  const bool wanted = common.paging.transport == Transport::file ||
                      (common.distribution == apps::Distribution::shard && apps::world().size() > 1);
  const auto fits = [&](ReplayGraphStorage storage) {
    return memory.needed(storage, other_bytes) <= available;
  };
  auto best = ReplayGraphStorage::in_file;
  for (const auto storage : {ReplayGraphStorage::loaded_from_file, ReplayGraphStorage::built_in_memory}) {
    if (!wanted && fits(storage)) best = storage;
  }
  std::uint64_t chosen[] = {static_cast<std::uint64_t>(best)};
  apps::world().all_reduce(chosen, Reduce::max, "the ranks' budgets");
  return static_cast<ReplayGraphStorage>(chosen[0]);
}

std::unique_ptr<ReplayGraphs> make_replay_graphs(ReplayGraphStorage storage,
                                                 const apps::CommonOptions& common) {
  if (storage == ReplayGraphStorage::built_in_memory) return std::make_unique<ReplayGraphs>();
  return std::make_unique<FileReplayGraphs>(storage == ReplayGraphStorage::in_file, common);
}

}  // namespace sluice::bench

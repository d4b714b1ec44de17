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
constexpr unsigned kMostBatches = 16;

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

class GraphsInFiles final : public ReplayGraphs {
 public:
  GraphsInFiles(bool stays, const apps::CommonOptions& common) : stays_(stays) {
    // All ranks of the machine know this name, so it is removed even if the job is forced to end.
    const std::string tag = broadcast_text(apps::world(), io::temporary_tag(), 0, "a folder for the graph");
    if (writes()) folder_.emplace(apps::folder_of_ranks("-", common.scratch, tag));
    const auto folders = apps::world().all_gather(folder_ ? folder_->path() : "", "a folder for the graph");
    path_ = folders[static_cast<std::size_t>(apps::world().node_leader())] + "/graph.h5";
  }

  Graph first(const TemporalSource& edges, std::uint64_t count, unsigned threads) override {
    return written([&] {
      io::ConvertOptions options;
      options.compact = false, options.keep_self_loops = true, options.reverse = true;
      options.threads = threads, options.force = true;
      FirstEdges source(edges, count);
      io::convert(source, path_, options);
    });
  }

  Graph keep(Graph graph) override {
    if (!stays_ || ++batches_ % kMostBatches != 0) return graph;
    return written([&] { io::write_graph(path_, graph, true); });
  }

 private:
  static bool writes() { return apps::world().node_rank() == 0; }

  /// One rank of the machine calls write(), and all open the file; an open file needs no name.
  template <class Write>
  Graph written(Write&& write) {
    if (writes()) write();
    apps::world().barrier("the graph of the replay");
    Graph graph = stays_ ? io::open_graph(path_, {.in = true}) : io::read_graph(path_, {.in = true});
    apps::world().barrier("the graph of the replay");
    if (writes()) fs::remove(path_);
    return graph;
  }

  bool stays_;
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

std::uint64_t ReplayMemory::needed(ReplayGraphPlace place, std::uint64_t beside) const {
  const std::uint64_t held = place == ReplayGraphPlace::stays ? file_bytes : graph_bytes;
  const std::uint64_t making = place == ReplayGraphPlace::made ? build_bytes : io::kMinConversionMemory;
  return std::max(making, held + update_bytes + beside);
}

ReplayGraphPlace place_of_replay(const ReplayMemory& memory, std::uint64_t beside,
                                 const apps::CommonOptions& common) {
  const std::uint64_t available = host_budget().available();
  const bool wanted = common.paging.transport == Transport::file ||
                      (common.distribution == apps::Distribution::shard && apps::world().size() > 1);
  const auto fits = [&](ReplayGraphPlace place) { return memory.needed(place, beside) <= available; };
  auto best = ReplayGraphPlace::stays;
  for (const auto place : {ReplayGraphPlace::read, ReplayGraphPlace::made}) {
    if (!wanted && fits(place)) best = place;
  }
  std::uint64_t place[] = {static_cast<std::uint64_t>(best)};
  apps::world().all_reduce(place, Reduce::max, "the ranks' budgets");
  return static_cast<ReplayGraphPlace>(place[0]);
}

std::unique_ptr<ReplayGraphs> keep_replay_graphs(ReplayGraphPlace place, const apps::CommonOptions& common) {
  if (place == ReplayGraphPlace::made) return std::make_unique<ReplayGraphs>();
  return std::make_unique<GraphsInFiles>(place == ReplayGraphPlace::stays, common);
}

}  // namespace sluice::bench

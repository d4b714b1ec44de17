// The driver of walks over ranks that each hold all of their partitions on the device: in every superstep
// all walks that are here go on until they leave for another rank or end, then change hands; wave by wave.
// The longest walk leaves at almost every step, so that there are about as many supersteps as steps.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/shard_walk.hpp"
#include "engine/drive/wave_rows.hpp"
#include "engine/residency/resident_graph.hpp"

namespace sluice {

/// `Wave` is the backend's ShardWave.
template <class Program, class Wave>
class ShardWalkDriver {
 public:
  /// All ranks make one, of the same plan.
  ShardWalkDriver(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                  StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                  Instance end, PagedPlan plan, std::unique_ptr<typename Wave::Link> link)
      : graph_(graph),
        program_(program),
        options_(options),
        stats_(stats),
        ranks_(*graph.paging.shard),
        instances_(end - begin),
        loop_(graph, pages, std::move(plan), PageUse{.picks = 1, .roams = true}, stats),
        homes_(graph.device, &ranks_, begin, end, loop_.plan().wave),
        link_(std::move(link)),
        wave_(graph.device, *link_, ranks_, homes_.capacity(), options.length,
              ranks_of_keys(ranks_, loop_.partitions())) {
    walks_.own_begin = loop_.own().begin, walks_.own_end = loop_.own().end;
    walks_.homes = homes_.firsts(), walks_.home_counts = homes_.counts();
    walks_.per_home = loop_.plan().wave;
    walks_.starts = starts;
    walks_.length = options.length;
    walks_.partitions = loop_.partitions();
  }

  void run(WalkSink* sink) {
    WaveRows rows(graph_.device, homes_, Wave::kRowsInParts ? &ranks_ : nullptr, loop_.plan().wave,
                  options_.length, sink, stats_);
    const double loading = seconds_now();
    hold({});
    stats_.load_seconds += seconds_now() - loading;
    std::uint64_t done = 0;
    for (std::uint64_t w = 0; w < homes_.waves(); ++w, ++stats_.waves) {
      homes_.begin(w);
      // However long another rank reads its partitions or writes its rows; a superstep's wait is short.
      ranks_.barrier("a wave of walks", kUnlimited);
      const double start = seconds_now();
      walk_wave();
      stats_.compute_seconds += seconds_now() - start;
      rows.leave(wave_.paths());
      done += homes_.own_count();
      if (options_.progress) options_.progress(done, instances_);
    }
    rows.finish();
    stats_.steps += wave_.steps(), stats_.selections += wave_.steps();
    stats_.selection_iterations += wave_.rounds();
    loop_.count();
  }

 private:
  void walk_wave() {
    wave_.begin(walks_, homes_.capacity());
    for (bool begun = false;; begun = true, ++stats_.rounds) {
      const Crossing crossing = wave_.exchange();
      stats_.entries_sent += crossing.sent, stats_.entries_received += crossing.received;
      if (crossing.left == 0) break;
      if (begun && crossing.travelled == 0) bring_pair(crossing.here > 0);
      wave_.advance(walks_);
    }
    wave_.bring_rows_home(loop_.plan().wave);
  }

  /// All walks that are left need a list of another rank beside their own: that of one of them comes, and
  /// whoever can goes on.
  void bring_pair(bool some) {
    if (some) hold({loop_.plan().partitions.owner(wave_.first_pair(walks_).second)});
    // However long another rank reads.
    ranks_.barrier("lists of other ranks", kUnlimited);
  }

  /// Makes this rank's partitions visible, and `more` beside them.
  void hold(std::vector<std::uint32_t> more) {
    const OwnedPartitions own = loop_.own();
    const std::size_t others = more.size();
    more.resize(others + own.end - own.begin);
    std::iota(more.begin() + static_cast<std::ptrdiff_t>(others), more.end(), own.begin);
    loop_.hold(more);
    std::tie(walks_.map, walks_.programs) =
        loop_.publish([this](const PageView& page) { return on_page(program_, page); });
  }

  ResidentGraph::Impl& graph_;
  const Program& program_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator& ranks_;
  Instance instances_;
  PageLoop loop_;
  WaveHomes homes_;
  std::unique_ptr<typename Wave::Link> link_;
  Wave wave_;
  PagedWalks<Program> walks_;
};

/// Walks so, if every rank's part of the graph fits its device and the ranks can reach each other; false, on
/// all of them, where not.
template <class Program, class Wave>
bool walk_resident_shard(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                         StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                         Instance end, WalkSink* sink) {
  Communicator& ranks = *graph.paging.shard;
  const std::uint64_t bytes =
      kShardWalkBytes<Wave::kAsks> + (std::uint64_t{options.length} + 1) * sizeof(Vertex);
  auto plan = plan_resident_shard(ranks, graph.device, graph.graph, graph.paging, pages.columns, bytes,
                                  end - begin, Wave::kAsks);
  if (!plan) return false;
  auto link = Wave::link(ranks);
  if (!link) return false;
  ShardWalkDriver<Program, Wave>(graph, program, pages, starts, options, stats, begin, end, *std::move(plan),
                                 std::move(link))
      .run(sink);
  return true;
}

}  // namespace sluice

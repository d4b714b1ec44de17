// The driver of walks over ranks that each hold all of their partitions on the device: in every superstep
// all walks that are here go on until they leave for another rank or end, then change hands; wave by wave,
// each in two halves where a device works by itself.
// The longest walk leaves at almost every step, so that there are about as many supersteps as steps.
#pragma once

#include <algorithm>
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
  /// All ranks make one, of the same plan; one may find too little memory (together). All hear first where
  /// the instances are, and what comes after is a rank's own, up to run().
  ShardWalkDriver(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                  StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                  Instance end, PagedPlan plan, typename Wave::Link& link)
      : graph_(graph),
        program_(program),
        options_(options),
        stats_(stats),
        ranks_(*graph.paging.shard),
        instances_(end - begin),
        link_(link),
        homes_(graph.device, &ranks_, begin, end, plan.wave),
        loop_(graph, pages, std::move(plan), PageUse{.picks = 1, .roams = true}, stats),
        rows_(graph.device, link_, homes_.capacity() * (std::uint64_t{options.length} + 1)) {
    const auto owners = ranks_of_keys(ranks_, loop_.partitions());
    const std::uint64_t most = Half::most(homes_.capacity(), Wave::kHalves);
    for (unsigned half = 0; half < Wave::kHalves; ++half) {
      halves_.push_back(
          std::make_unique<Wave>(graph.device, link_, ranks_, most, rows_, options.length, owners));
    }
    walks_.own_begin = loop_.own().begin, walks_.own_end = loop_.own().end;
    walks_.homes = homes_.firsts(), walks_.home_counts = homes_.counts();
    walks_.per_home = loop_.plan().wave;
    walks_.starts = starts;
    walks_.length = options.length;
    walks_.partitions = loop_.partitions();
  }

  void run(WalkSink* sink) {
    if constexpr (requires(Wave & wave) { wave.connect(); }) {
      for (const auto& half : halves_) half->connect();
    }
    WaveRows rows(graph_.device, homes_, Wave::Rows::kInParts ? &ranks_ : nullptr, loop_.plan().wave,
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
      rows.leave(rows_.data());
      done += homes_.own_count();
      if (options_.progress) options_.progress(done, instances_);
    }
    rows.finish();
    for (const auto& half : halves_) {
      stats_.steps += half->steps(), stats_.selections += half->steps();
      stats_.selection_iterations += half->rounds();
      stats_.exchange_seconds += half->exchange_seconds();
    }
    stats_.exchange_seconds += rows_.seconds();
    stats_.exchanged_bytes += link_.bytes_sent();
    loop_.count();
  }

 private:
  using Half = ShardHalf<Program>;

  /// Halves take turns: the host waits for what one of them hands over while the other works.
  void walk_wave() {
    std::vector<bool> left(halves_.size(), true);
    rows_.clear();
    for (unsigned h = 0; h < halves_.size(); ++h) halves_[h]->begin(half(h));
    for (std::uint64_t turn = 0; std::ranges::find(left, true) != left.end(); ++turn) {
      const std::size_t h = turn % halves_.size();
      if (left[h]) left[h] = superstep(static_cast<unsigned>(h), turn >= halves_.size());
    }
    rows_.bring_home(loop_.plan().wave * (std::uint64_t{options_.length} + 1));
  }

  /// Walks of a half change hands and go on; false when all ranks have none of them left. `begun`: they were
  /// worked on before.
  bool superstep(unsigned h, bool begun) {
    Wave& wave = *halves_[h];
    const Crossing crossing = wave.exchange();
    stats_.entries_sent += crossing.sent, stats_.entries_received += crossing.received;
    if (crossing.left == 0) return false;
    if constexpr (Wave::kAsks) {
      if (begun && crossing.travelled == 0) bring_pair(crossing.here > 0);
    }
    wave.advance(walks_);
    ++stats_.rounds;
    return true;
  }

  Half half(unsigned h) const { return {walks_, homes_.capacity(), h, Wave::kHalves}; }

  /// All walks that are left need a list of another rank beside their own: that of one of them comes, and
  /// whoever can goes on.
  void bring_pair(bool some) {
    if (some) hold({loop_.plan().partitions.owner(halves_[0]->first_pair(walks_).second)});
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
  typename Wave::Link& link_;
  WaveHomes homes_;
  PageLoop loop_;
  typename Wave::Rows rows_;
  std::vector<std::unique_ptr<Wave>> halves_;
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
  // A user's sampler may have more in its program than most.
  const std::uint64_t slot_bytes = std::max<std::uint64_t>(kSlotLookUp, sizeof(PageView) + sizeof(Program));
  auto plan = plan_resident_shard(ranks, graph.device, graph.graph, graph.paging, pages.columns, bytes,
                                  end - begin, Wave::kAsks, 0, slot_bytes);
  if (!plan) return false;
  const auto link = Wave::link(ranks);
  if (!link) return false;
  using Driver = ShardWalkDriver<Program, Wave>;
  std::unique_ptr<Driver> driver;
  try {
    together(&ranks, [&] {
      driver = std::make_unique<Driver>(graph, program, pages, starts, options, stats, begin, end,
                                        *std::move(plan), *link);
    });
  } catch (const BudgetError&) {
    if constexpr (requires { link->abort(); }) link->abort();  // one rank's is gone
    return false;                                              // of all ranks: queues take less
  }
  driver->run(sink);
  return true;
}

}  // namespace sluice

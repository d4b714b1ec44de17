// The queue driver of walks on a graph in partitions: brings partitions where walks wait, works on what is
// here while the next ones come, until all walks of a wave have ended; wave by wave.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_walk.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/wave_rows.hpp"
#include "engine/residency/paged_plan.hpp"
#include "engine/residency/resident_graph.hpp"

namespace sluice {

/// `Wave` is the backend's PagedWave.
template <class Program, class Wave>
class PagedWalkDriver {
 public:
  PagedWalkDriver(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                  StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                  Instance end)
      : graph_(graph),
        program_(program),
        options_(options),
        stats_(stats),
        ranks_(graph.paging.shard),
        instances_(end - begin),
        loop_(graph, pages, make_plan(pages.columns), PageUse{.picks = 1, .roams = true}, stats),
        homes_(graph.device, ranks_, begin, end, loop_.plan().wave),
        wave_(graph.device, graph.paging, homes_.capacity(), options.length, loop_.partitions() + 2) {
    walks_.own_begin = loop_.own().begin, walks_.own_end = loop_.own().end;
    walks_.homes = homes_.firsts(), walks_.home_counts = homes_.counts(), walks_.per_home = per_home();
    walks_.starts = starts;
    walks_.length = options.length;
    walks_.partitions = loop_.partitions();
  }

  void run(WalkSink* sink) {
    WaveRows rows(graph_.device, homes_, ranks_, per_home(), options_.length, sink, stats_);
    std::uint64_t done = 0;
    for (std::uint64_t w = 0; w < homes_.waves(); ++w, ++stats_.waves) {
      homes_.begin(w);
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
    stats_.kernels += wave_.times();
    loop_.count();
  }

 private:
  PagedPlan make_plan(const PageColumns& columns) const {
    const std::uint64_t each = Wave::kBytesPerWalk + (std::uint64_t{options_.length} + 1) * sizeof(Vertex);
    // Every rank holds the walks of all.
    const auto homes = static_cast<std::uint64_t>(ranks_ ? ranks_->size() : 1);
    return plan_shard(ranks_, graph_.device, graph_.graph, graph_.paging, columns, each * homes, instances_,
                      options_.length);
  }

  std::uint64_t per_home() const { return loop_.plan().wave; }

  void walk_wave() {
    publish();
    wave_.begin(walks_, homes_.capacity());
    do {
      walk_here();
    } while (ranks_ && exchange());
  }

  /// Hands walks that wait for other ranks' partitions to them; false when nobody has work any more.
  bool exchange() {
    const auto ranks = static_cast<std::size_t>(ranks_->size());
    std::vector<std::vector<TravellingWalk>> leaving(ranks);
    std::vector<std::uint32_t> foreign;
    for (std::uint32_t p = 0; p < walks_.partitions; ++p) {
      if ((p < walks_.own_begin || p >= walks_.own_end) && wave_.waiting()[p] > 0) foreign.push_back(p);
    }
    std::vector<TravellingWalk> all;
    wave_.take(foreign, walks_.ended(), all);
    for (const TravellingWalk& walk : all) {
      leaving[static_cast<std::size_t>(OwnedPartitions::owner(walk.key, walks_.partitions, ranks_->size()))]
          .push_back(walk);
    }
    std::vector<std::span<const std::byte>> send;
    for (const auto& walks : leaving) send.push_back(std::as_bytes(std::span(walks)));
    std::vector<std::byte> received;
    std::vector<std::uint64_t> sizes;
    // However long another rank works on what waits there.
    ranks_->all_to_all(send, received, sizes, "walks from other ranks", kUnlimited);
    std::vector<TravellingWalk> arrived(received.size() / sizeof(TravellingWalk));
    std::ranges::copy(received, std::as_writable_bytes(std::span(arrived)).begin());
    wave_.settle(arrived, walks_.ended());
    stats_.entries_sent += all.size(), stats_.entries_received += arrived.size();
    std::uint64_t waiting[] = {arrived.size()};
    ranks_->all_reduce(waiting, Reduce::sum, "walks under way");
    return waiting[0] > 0;
  }

  /// Works until nothing waits for partitions of this rank.
  void walk_here() {
    for (;;) {
      loop_.drain(wave_.waiting(), [this](std::span<const std::uint32_t> here) { work(here); });
      if (wave_.waiting()[walks_.pairs()] == 0) return;
      // All that still waits needs two partitions at once: those of one walk come, and whoever can goes on.
      const auto [own, asked] = wave_.first_pair(walks_);
      const PartitionPlan& plan = loop_.plan().partitions;
      const std::array<std::uint32_t, 2> wanted{plan.owner(own), plan.owner(asked)};
      const std::uint32_t key = walks_.pairs();
      loop_.bring_together(wanted, wave_.waiting(), [&] { work({&key, 1}); });
    }
  }

  void work(std::span<const std::uint32_t> keys) {
    publish();
    wave_.advance(walks_, keys);
  }

  /// Makes what is here visible to the next round.
  void publish() {
    std::tie(walks_.map, walks_.programs) =
        loop_.publish([this](const PageView& page) { return on_page(program_, page); });
  }

  ResidentGraph::Impl& graph_;
  const Program& program_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator* ranks_;
  Instance instances_;
  PageLoop loop_;
  WaveHomes homes_;
  Wave wave_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice

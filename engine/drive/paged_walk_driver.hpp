// The queue driver of walks on a graph in partitions: brings partitions where walks wait, works on what is
// here while the next ones come, until all walks of a wave have ended; wave by wave.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/drive/paged_walk.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/wave_writer.hpp"
#include "engine/residency/paged_plan.hpp"
#include "engine/residency/resident_graph.hpp"
#include "engine/residency/slots.hpp"
#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/transport.hpp"

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
        row_(std::uint64_t{options.length} + 1),
        plan_(make_plan(pages.columns)),
        homes_(graph.device, ranks_, begin, end, plan_.wave),
        slots_(graph.device, graph.graph.out.offsets.span(), plan_.partitions, pages.columns, pages.sources,
               plan_.slots),
        transport_(plan_.partitions,
                   graph.paging.transport == Transport::automatic && slots_.can_map()
                       ? measure_link(graph.device)
                       : LinkRates{},
                   reads_of(pages.columns)),
        scheduler_(static_cast<std::uint32_t>(plan_.partitions.size()), plan_.slots, graph.paging.schedule),
        programs_(graph.device, plan_.slots + 1, "the partition look-up"),
        wave_(graph.device, homes_.capacity(), options.length,
              static_cast<std::uint32_t>(plan_.partitions.size()) + 2) {
    if (graph.paging.transport == Transport::mapped && !slots_.can_map()) {
      throw UsageError(
          "--transport mapped: needs the edges and their tables in host memory (raise --host-memory, or "
          "use copied or file)");
    }
    const OwnedPartitions own =
        ranks_ ? OwnedPartitions::of(plan_.partitions.size(), ranks_->rank(), ranks_->size())
               : OwnedPartitions{0, static_cast<std::uint32_t>(plan_.partitions.size())};
    walks_.own_begin = own.begin, walks_.own_end = own.end;
    walks_.homes = homes_.firsts(), walks_.home_counts = homes_.counts(), walks_.per_home = plan_.wave;
    walks_.programs = programs_.data();
    walks_.starts = starts;
    walks_.length = options.length;
    walks_.partitions = static_cast<std::uint32_t>(plan_.partitions.size());
    stats_.partitions = plan_.partitions.size();
  }

  void run(WalkSink* sink) {
    // Results leave in pieces: what they take of the host's memory does not grow with the wave.
    constexpr std::uint64_t kPieceBytes = 32u << 20, kLeastPieces = 8;
    std::uint64_t piece_bytes =
        std::min(kPieceBytes, host_accountant().available() / kLeastPieces) / homes_.size();
    if (ranks_) {
      std::uint64_t agreed[] = {piece_bytes};
      ranks_->all_reduce(agreed, Reduce::min, "the size of results");
      piece_bytes = agreed[0];
    }
    const std::uint64_t piece =
        std::clamp<std::uint64_t>(piece_bytes / (row_ * sizeof(Vertex)), 1, plan_.wave);
    std::array<Staging<Vertex>, 2> pieces;
    if (sink) {
      for (auto& staging : pieces)
        staging = Staging<Vertex>(graph_.device, homes_.size() * piece * row_, "walks that leave");
    }
    WaveWriter writer;
    std::uint64_t turn = 0, done = 0;
    for (std::uint64_t w = 0; w < homes_.waves(); ++w, ++stats_.waves) {
      homes_.begin(w);
      const double start = seconds_now();
      walk_wave();
      stats_.compute_seconds += seconds_now() - start;
      for (std::uint64_t from = 0; sink && from < plan_.wave; from += piece, ++turn) {
        if (!ranks_ && from >= homes_.own_count()) break;
        leave(from, std::min(piece, plan_.wave - from), pieces[turn % 2], writer, *sink);
      }
      done += homes_.own_count();
      if (options_.progress) options_.progress(done, instances_);
    }
    const double waiting = seconds_now();
    writer.finish();
    stats_.write_seconds += seconds_now() - waiting;
    stats_.steps += wave_.steps(), stats_.selections += wave_.steps();
    stats_.selection_iterations += wave_.rounds();
    const Slots::Counters& counters = slots_.counters();
    stats_.partition_transfers += counters.transfers;
    stats_.host_to_device_bytes += counters.copied_bytes;
    stats_.read_bytes += counters.read_bytes;
  }

 private:
  PagedPlan make_plan(const PageColumns& columns) const {
    const std::uint64_t each = Wave::kBytesPerWalk + row_ * sizeof(Vertex);
    if (ranks_) {
      return plan_shard(*ranks_, graph_.device, graph_.graph, graph_.paging, columns, each, instances_,
                        options_.length);
    }
    return plan_pages(graph_.device, graph_.graph, graph_.paging, columns, each, instances_, options_.length);
  }

  /// Rows [from, from + size) of each home leave: to the other ranks if they are theirs, ours to the sink.
  void leave(std::uint64_t from, std::uint64_t size, const Staging<Vertex>& piece, WaveWriter& writer,
             WalkSink& sink) {
    const double leaving = seconds_now();
    std::vector<std::span<const Vertex>> parts;
    for (std::uint64_t home = 0; home < homes_.size(); ++home) {
      Vertex* const to = piece.data() + home * size * row_;
      copy_to_host(graph_.device, to, wave_.paths() + (home * plan_.wave + from) * row_,
                   size * row_ * sizeof(Vertex));
      stats_.device_to_host_bytes += size * row_ * sizeof(Vertex);
      parts.push_back({to, size * row_});
    }
    auto rows = std::make_shared<std::vector<Vertex>>();
    if (ranks_) *rows = gather_rows(*ranks_, parts);
    const std::uint64_t mine = std::min(size, homes_.own_count() - std::min(homes_.own_count(), from));
    const Vertex* const out = ranks_ ? rows->data() : parts[0].data();
    const double waiting = seconds_now();
    stats_.transfer_seconds += waiting - leaving;
    const Instance first = homes_.own_first() + from;
    if (mine > 0) {
      writer.submit([=, this, &sink] {
        sink.write({first, mine, options_.length, {out, mine * row_}, {}, {}});
        rows->clear();
      });
    }
    stats_.write_seconds += seconds_now() - waiting;
  }

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
      std::vector<std::uint64_t> away(wave_.waiting().begin(), wave_.waiting().begin() + walks_.partitions);
      std::fill(away.begin(), away.begin() + walks_.own_begin, 0);
      std::fill(away.begin() + walks_.own_end, away.end(), 0);
      const bool any = std::any_of(away.begin(), away.end(), [](std::uint64_t walks) { return walks > 0; });
      if (!any && wave_.waiting()[walks_.pairs()] == 0) return;
      if (!any) {
        bring_pair();
        continue;
      }
      const std::vector<std::uint32_t> mapped = map_some(away);
      for (const std::uint32_t partition : mapped) away[partition] = 0;
      for (const PartitionLoad& load : scheduler_.choose(away)) slots_.begin(load.slot, load.partition);
      work(mapped);
      slots_.wait();
      scheduler_.arrive();
      make_room();
    }
  }

  /// Makes what is read in place in this round visible; returns which partitions.
  std::vector<std::uint32_t> map_some(std::span<const std::uint64_t> waiting) {
    std::vector<std::uint32_t> mapped;
    const Transport transport = graph_.paging.transport;
    if (ranks_ || !slots_.can_map() || transport == Transport::copied || transport == Transport::file)
      return mapped;
    if (transport == Transport::mapped) {
      for (std::uint32_t p = 0; p < walks_.partitions; ++p) mapped.push_back(p);
    } else {
      std::uint64_t active = 0;
      for (const std::uint32_t p : scheduler_.residents()) active += waiting[p];
      mapped = transport_.mapped(waiting, active);
      std::erase_if(mapped, [&](std::uint32_t p) { return !scheduler_.away(p); });
    }
    return mapped;
  }

  /// Works on all that waits for partitions that are here.
  void work(std::span<const std::uint32_t> mapped) {
    std::vector<std::uint32_t> here = scheduler_.residents();
    here.insert(here.end(), mapped.begin(), mapped.end());
    std::erase_if(here, [&](std::uint32_t p) { return wave_.waiting()[p] == 0; });
    if (here.empty()) return;
    for (const std::uint32_t partition : mapped) slots_.map(partition);
    publish();
    wave_.advance(walks_, here);
    for (const std::uint32_t partition : mapped) slots_.drop(partition);
    ++stats_.rounds;
    stats_.mapped_rounds += !mapped.empty();
  }

  /// Keeps slots empty, so that the next partitions come while these are worked on.
  void make_room() {
    const unsigned spare = std::max(1u, plan_.slots / 4);
    for (const std::uint32_t partition : scheduler_.retire(wave_.waiting(), spare)) slots_.drop(partition);
  }

  /// All that still waits needs two partitions at once: brings those of one walk, and lets every walk go on
  /// that can.
  void bring_pair() {
    const auto [own, asked] = wave_.first_pair(walks_);
    const std::array<std::uint32_t, 2> wanted{plan_.partitions.owner(own), plan_.partitions.owner(asked)};
    std::vector<std::uint64_t> need(plan_.partitions.size(), 0);
    for (const std::uint32_t p : wanted) need[p] = 1;
    unsigned missing = 0;
    for (std::size_t i = 0; i < 2; ++i)
      missing += !scheduler_.resident(wanted[i]) && (i == 0 || wanted[1] != wanted[0]);
    for (const std::uint32_t partition : scheduler_.retire(need, missing)) slots_.drop(partition);
    for (const PartitionLoad& load : scheduler_.choose(need)) slots_.begin(load.slot, load.partition);
    slots_.wait();
    scheduler_.arrive();
    publish();
    const std::uint32_t key = walks_.pairs();
    wave_.advance(walks_, {&key, 1});
    ++stats_.rounds;
    make_room();
  }

  /// Reads of a list's edges by one visit.
  static double reads_of(const PageColumns& columns) {
    constexpr double kSearch = 16;  // of a CTPS
    constexpr double kCode = 4;     // beginning, sample, high bits, low bits
    return (columns.coded ? kCode : 1) + (columns.alias ? 2 : 0) + (columns.cumulative ? kSearch : 0) +
           (columns.weights ? 1 : 0);
  }

  /// Makes what is here visible to the next round.
  void publish() {
    walks_.map = slots_.publish();
    std::vector<Program> programs;
    for (const PageView& page : slots_.views()) programs.push_back(on_page(program_, page));
    copy_to_device(graph_.device, programs_.data(), programs.data(), programs_.bytes());
  }

  ResidentGraph::Impl& graph_;
  const Program& program_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator* ranks_;
  Instance instances_;
  std::uint64_t row_;
  PagedPlan plan_;
  WaveHomes homes_;
  Slots slots_;
  TransportChoice transport_;
  Scheduler scheduler_;
  Buffer<Program> programs_;
  Wave wave_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice

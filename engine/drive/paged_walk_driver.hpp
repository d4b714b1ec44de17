// The queue driver of walks on a graph in partitions: brings partitions where walks wait, works on what is
// here while the next ones come, until all walks of a wave have ended; wave by wave.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/drive/paged_walk.hpp"
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
        begin_(begin),
        end_(end),
        row_(std::uint64_t{options.length} + 1),
        plan_(plan_pages(graph.device, graph.graph, graph.paging, pages.columns,
                         Wave::kBytesPerWalk + row_ * sizeof(Vertex), end - begin, options.length)),
        slots_(graph.device, graph.graph, plan_.partitions, pages.columns, pages.sources, plan_.slots),
        transport_(plan_.partitions,
                   graph.paging.transport == Transport::automatic && slots_.can_map()
                       ? measure_link(graph.device)
                       : LinkRates{},
                   reads_of(pages.columns)),
        scheduler_(static_cast<std::uint32_t>(plan_.partitions.size()), plan_.slots, graph.paging.schedule),
        programs_(graph.device, plan_.slots + 1, "the partition look-up"),
        wave_(graph.device, plan_.wave, options.length,
              static_cast<std::uint32_t>(plan_.partitions.size()) + 2) {
    if (graph.paging.transport == Transport::mapped && !slots_.can_map()) {
      throw UsageError(
          "--transport mapped: needs the edges and their tables in host memory (raise --host-memory, or "
          "use copied or file)");
    }
    walks_.programs = programs_.data();
    walks_.starts = starts;
    walks_.length = options.length;
    walks_.partitions = static_cast<std::uint32_t>(plan_.partitions.size());
    stats_.partitions = plan_.partitions.size();
  }

  void run(WalkSink* sink) {
    // Results leave in pieces: what they take of the host's memory does not grow with the wave.
    const std::uint64_t piece_bytes = std::min<std::uint64_t>(host_accountant().available() / 8, 32u << 20);
    const std::uint64_t piece =
        std::clamp<std::uint64_t>(piece_bytes / (row_ * sizeof(Vertex)), 1, plan_.wave);
    std::array<Staging<Vertex>, 2> pieces;
    if (sink) {
      for (auto& staging : pieces) staging = Staging<Vertex>(graph_.device, piece * row_, "walks that leave");
    }
    WaveWriter writer;
    std::uint64_t turn = 0;
    for (Instance first = begin_; first < end_; first += plan_.wave, ++stats_.waves) {
      const std::uint64_t count = std::min<std::uint64_t>(plan_.wave, end_ - first);
      const double start = seconds_now();
      walk_wave(first, count);
      stats_.compute_seconds += seconds_now() - start;
      for (std::uint64_t from = 0; sink && from < count; from += piece, ++turn) {
        const double leaving = seconds_now();
        const std::uint64_t size = std::min(piece, count - from);
        Vertex* const out = pieces[turn % 2].data();
        copy_to_host(graph_.device, out, wave_.paths() + from * row_, size * row_ * sizeof(Vertex));
        stats_.device_to_host_bytes += size * row_ * sizeof(Vertex);
        const double waiting = seconds_now();
        stats_.transfer_seconds += waiting - leaving;
        writer.submit([=, this] {
          sink->write({first + from, size, options_.length, {out, size * row_}, {}, {}});
        });
        stats_.write_seconds += seconds_now() - waiting;
      }
      if (options_.progress) options_.progress(first + count - begin_, end_ - begin_);
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
  void walk_wave(Instance first, std::uint64_t count) {
    walks_.first = first;
    publish();
    wave_.begin(walks_, count);
    for (;;) {
      std::vector<std::uint64_t> away(wave_.waiting().begin(), wave_.waiting().begin() + walks_.partitions);
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
    if (!slots_.can_map() || transport == Transport::copied || transport == Transport::file) return mapped;
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
    return 1 + (columns.alias ? 2 : 0) + (columns.cumulative ? kSearch : 0) + (columns.weights ? 1 : 0);
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
  Instance begin_, end_;
  std::uint64_t row_;
  PagedPlan plan_;
  Slots slots_;
  TransportChoice transport_;
  Scheduler scheduler_;
  Buffer<Program> programs_;
  Wave wave_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice

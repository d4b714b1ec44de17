// Launches that select the edges of a depth's entries on a GPU: of all entries, or of listed ones.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/errors.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/samples/large_kernels.cuh"
#include "engine/samples/level.hpp"

namespace sluice::samples::cuda {

/// Entries whose edges are to be selected, on a stream. The offsets of their edges are already computed.
template <class Entries>
struct Selection {
  LevelView level;
  Entries entries;
  std::uint32_t depth;
  std::uint64_t largest;  ///< an upper bound of the selections' sizes
  const Stream& stream;
  const std::uint64_t* begins;        ///< [entries + 1] see copy_all_kernel, if any selection is large
  unsigned long long* clashes;        ///< receives the entries whose first choices clash; 0 for AllEntries
  std::uint32_t* clashing = nullptr;  ///< [entries] receives those entries, if they are listed
  unsigned max_blocks = ~0u;          ///< of a launch without scratch
  ScratchPart scratch = {};           ///< of a launch with scratch
};

template <class Program>
class SelectLaunches {
 public:
  SelectLaunches(const ResidentGraph::Impl& graph, SampleWorkspace& memory, bool linear_requested,
                 RunStats& stats)
      : device_(graph.device),
        max_degree_(graph.max_degree),
        linear_requested_(linear_requested),
        memory_(memory),
        stats_(stats) {}

  /// True if selections need scratch and may run out of random words.
  static bool needs_scratch(std::uint64_t largest) { return Program::kDynamic || largest > kTilePicks; }
  /// The number of blocks without scratch that the device runs concurrently.
  static unsigned concurrent_blocks() {
    if constexpr (Program::kDynamic)
      return resident_blocks(measure_kernel<ListedEntries, Program>, kSampleBlock, 0);
    else
      return resident_blocks(select_listed_kernel<kTilePicks, Program>, kSampleBlock, 0);
  }

  /// Allocates scratch if a level's selections need it; call it before the first of them, which may share it.
  /// All useful warps get scratch if it fits, else fewer. Their number never changes a sample.
  void reserve(const Program& program, std::uint64_t largest) {
    if (!needs_scratch(largest)) return;
    constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;
    const std::uint64_t bytes =  // if not dynamic, smallest_batch_bytes() has planned scratch of all warps
        Program::kDynamic ? std::min(kMaxBytes, memory_.scratch.bytes() + device_.memory().available() / 2)
                          : ~0ull;
    const std::uint64_t warp_size = scratch_for(program, longest_list()).warp_size(),
                        max_warps = large_warps(device_);
    const std::uint64_t warps =
        std::clamp<std::uint64_t>(bytes / sizeof(std::uint64_t) / warp_size, 1, max_warps);
    memory_.scratch.reserve(device_, warps * warp_size, "scratch of large selections");
    units_ = static_cast<unsigned>(std::min(memory_.scratch.size() / warp_size, max_warps / kWarps));
  }
  /// The number of parts of the scratch: each serves a block, or at least a warp if memory is short.
  unsigned units() const { return units_; }

  template <class Entries>
  void select(const Program& program, const Selection<Entries>& selection) {
    if constexpr (Program::kDynamic) {
      select_dynamic(program, selection);
    } else {
      select_tabled(program, selection);
    }
  }

  template <class Kernel, class... Args>
  void launch(const char* name, const Stream& stream, std::uint64_t threads, unsigned max_blocks,
              Kernel kernel, Args... args) {
    kernel<<<std::min(grid_for(threads, kSampleBlock), max_blocks), kSampleBlock, 0, stream.get()>>>(args...);
    check_launch(name);
    ++stats_.kernel_launches;
  }

  /// Begins to copy the summary to the host; a wait for the stream completes the copy.
  void fetch_summary(const Stream& stream) {
    check(cudaMemcpyAsync(memory_.host_summary.data(), memory_.summary.data(), sizeof(LevelSummary),
                          cudaMemcpyDeviceToHost, stream.get()),
          "reading counters");
  }
  void read_summary(const Stream& stream) {
    fetch_summary(stream);
    stream.wait("samples");
  }
  /// Throws UsageError if a selection ran out of random words, which then stored no edges.
  void throw_if_exhausted(const Stream& stream) {
    read_summary(stream);
    if (memory_.host_summary.data()->exhausted) throw too_many_redraws();
  }

 private:
  static constexpr unsigned kWarps = kSampleBlock / 32;  ///< of a block

  /// Two launches: short lists with as many warps as are useful, longer ones with as many as have scratch.
  template <class Entries>
  void select_dynamic(const Program& program, const Selection<Entries>& selection) {
    constexpr std::uint32_t kShortList = GraphView::kHubDegree;
    select_lists(program, selection, {0, kShortList});
    if (longest_list() > kShortList) select_lists(program, selection, {kShortList, ~0u});
  }

  template <class Entries>
  void select_lists(const Program& base, const Selection<Entries>& selection, ListLengths lengths) {
    const std::uint64_t longest = std::min<std::uint64_t>(longest_list(), lengths.max);
    const Program program = with_collision(base, max_drawn(base, longest));
    const LargeScratch scratch = assign_scratch(selection.scratch, scratch_for(program, longest));
    if (scratch.words > 0)
      check(cudaMemsetAsync(scratch.base.words, 0, scratch.warps * scratch.words * sizeof(std::uint32_t),
                            selection.stream.get()),
            "clearing bitmaps");
    launch("select_large_kernel", selection.stream, scratch.warps * 32, ~0u,
           select_large_kernel<Entries, Program>, program, selection.level, selection.entries,
           selection.depth, lengths, scratch, memory_.summary.data(), memory_.totals.data());
  }

  /// The longest list that large selections draw from.
  std::uint64_t longest_list() const {
    return Program::kDynamic ? memory_.host_summary.data()->longest_list : max_degree_;
  }
  /// The most edges that an entry draws from a list of at most `longest` edges.
  std::uint64_t max_drawn(const Program& program, std::uint64_t longest) const {
    const std::uint64_t drawn = memory_.host_summary.data()->drawn;
    return program.sampler.replacement() ? drawn : std::min(drawn, longest);
  }
  /// Scratch of one warp for lists of at most `longest` edges.
  LargeScratch scratch_for(const Program& program, std::uint64_t longest) const {
    LargeScratch scratch;
    scratch.picks = max_drawn(program, longest);
    if (Program::kDynamic && program.select != Select::rejection) scratch.sums = longest;
    const bool linear = with_collision(program, scratch.picks).collision == Collision::linear;
    if (!program.sampler.replacement() && !linear) scratch.words = longest / 32 + 1;
    return scratch;
  }
  /// Scratch for as many warps as fit a part of the allocated scratch.
  LargeScratch assign_scratch(const ScratchPart& part, LargeScratch scratch) const {
    const std::uint64_t units = std::min(part.units, units_), unit = memory_.scratch.size() / units_;
    const std::uint64_t max_warps = std::max<std::uint64_t>(1, large_warps(device_) * units / units_);
    scratch.warps = std::clamp<std::uint64_t>(units * unit / scratch.warp_size(), 1, max_warps);
    std::uint64_t* const sums = memory_.scratch.data() + part.begin * unit;
    auto* const picks = reinterpret_cast<std::uint32_t*>(sums + scratch.warps * scratch.sums);
    std::uint32_t* const excluded = picks + scratch.warps * scratch.picks;
    scratch.base = {picks, excluded, excluded + scratch.warps * scratch.picks, sums};
    return scratch;
  }

  template <class Entries>
  void select_tabled(const Program& program, const Selection<Entries>& selection) {
    constexpr std::uint64_t kManyEntries = 1u << 16;
    const bool uneven = memory_.host_summary.data()->uneven != 0;
    const bool replacement = program.sampler.replacement(), small = selection.largest <= kTilePicks;
    if (Entries::kListed ? replacement && small && !uneven : selection.level.fanout > 0)
      return draw(program, selection);
    // One launch is faster than two if there are few entries.
    if (selection.entries.max_count >= kManyEntries && !replacement && small &&
        program.select != Select::updated)
      return choose_first(program, selection);
    if constexpr (Entries::kListed) {
      select_listed(program, selection, selection.entries);
    } else {
      select_all(program, selection, nullptr, selection.entries.max_count);
    }
    if (small) return;
    // The number of edges of listed entries is known only to the device.
    const unsigned max_blocks = Entries::kListed ? device_.multiprocessors() * 8 : ~0u;
    launch("copy_all_kernel", selection.stream, selection.level.edges,
           std::min(max_blocks, selection.max_blocks), copy_all_kernel<Entries, Program>, program,
           selection.level, selection.entries, selection.depth, selection.begins);
    select_lists(program, selection, {0, ~0u});
  }

  /// Warps that serve `entries` entries of `lanes` lanes each.
  static std::uint64_t warps_for(std::uint64_t entries, std::uint64_t lanes) {
    return (entries + 32 / lanes - 1) / (32 / lanes);
  }

  template <class Entries>
  void draw(const Program& program, const Selection<Entries>& selection) {
    launch("draw_kernel", selection.stream, warps_for(selection.entries.max_count, selection.largest) * 32,
           selection.max_blocks, draw_kernel<Entries, Program>, program, selection.level, selection.entries,
           selection.depth, static_cast<std::uint32_t>(selection.largest), memory_.totals.data());
    if (Entries::kListed) return;
    stats_.selections += selection.level.edges, stats_.selection_iterations += selection.level.edges;
  }

  /// The host reads the number of clashing entries for AllEntries only.
  template <class Entries>
  void choose_first(const Program& program, const Selection<Entries>& selection) {
    std::uint32_t* clashing = selection.clashing;
    if constexpr (!Entries::kListed) {
      memory_.clashing.reserve(device_, selection.entries.max_count, kSampleBatch);
      clashing = memory_.clashing.data();
    } else {
      check(cudaMemsetAsync(selection.clashes, 0, sizeof *selection.clashes, selection.stream.get()),
            "clearing counters");
    }
    launch("first_choice_kernel", selection.stream,
           warps_for(selection.entries.max_count, selection.largest) * 32, selection.max_blocks,
           first_choice_kernel<Entries, Program>, program, selection.level, selection.entries,
           static_cast<std::uint32_t>(selection.largest), clashing, selection.clashes, memory_.totals.data());
    if constexpr (Entries::kListed) {
      select_listed(program, selection, {clashing, selection.entries.max_count, selection.clashes});
    } else {
      read_summary(selection.stream);
      const std::uint64_t clashes = memory_.host_summary.data()->clashing;
      if (clashes > 0) select_all(program, selection, clashing, clashes);
    }
  }

  void select_all(const Program& program, const Selection<AllEntries>& selection, const std::uint32_t* listed,
                  std::uint64_t count) {
    launch("select_kernel", selection.stream, count * kTilePicks, ~0u, select_kernel<kTilePicks, Program>,
           program, selection.level, selection.depth, listed, count, memory_.totals.data());
  }
  void select_listed(const Program& program, const Selection<ListedEntries>& selection,
                     const ListedEntries& entries) {
    launch("select_listed_kernel", selection.stream, entries.max_count * kTilePicks, selection.max_blocks,
           select_listed_kernel<kTilePicks, Program>, program, selection.level, entries, selection.depth,
           memory_.totals.data());
  }

  /// The program with the collision technique for `drawn` picks.
  Program with_collision(const Program& base, std::uint64_t drawn) const {
    Program program = base;
    if (program.collision == Collision::linear && drawn >= kMinBitmapPicks && !linear_requested_)
      program.collision = Collision::bitmap;
    return program;
  }

  const Device& device_;
  std::uint32_t max_degree_;
  bool linear_requested_;  ///< `--collision linear`: never replaced by a bitmap
  unsigned units_ = 1;  ///< parts of the scratch
  SampleWorkspace& memory_;
  RunStats& stats_;
};

}  // namespace sluice::samples::cuda

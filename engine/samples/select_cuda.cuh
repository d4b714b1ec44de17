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
template <class Turns>
struct Selection {
  LevelView level;
  Turns turns;
  std::uint32_t depth;
  std::uint64_t largest;  ///< an upper bound of the selections' sizes
  const Stream& stream;
  const std::uint64_t* begins;        ///< [turns + 1] see copy_all_kernel, if any selection is large
  unsigned long long* clashes;        ///< receives the entries whose first choices clash; 0 for AllEntries
  std::uint32_t* clashing = nullptr;  ///< [turns] receives those entries, if they are listed
  unsigned most_blocks = ~0u;         ///< of a launch without scratch
  ScratchPart scratch = {};           ///< of a launch with scratch
};

template <class Program>
class SelectLaunches {
 public:
  SelectLaunches(const ResidentGraph::Impl& graph, SampleWorkspace& memory, bool linear_asked,
                 RunStats& stats)
      : device_(graph.device),
        max_degree_(graph.max_degree),
        linear_asked_(linear_asked),
        memory_(memory),
        stats_(stats) {}

  /// True if selections need scratch and may run out of random words.
  static bool needs_scratch(std::uint64_t largest) { return Program::kDynamic || largest > kTilePicks; }
  /// The number of blocks without scratch that the device runs concurrently.
  static unsigned blocks_side_by_side() {
    if constexpr (Program::kDynamic)
      return resident_blocks(measure_kernel<ListedEntries, Program>, kSampleBlock, 0);
    else
      return resident_blocks(select_listed_kernel<kTilePicks, Program>, kSampleBlock, 0);
  }

  /// Allocates scratch if a level's selections need it; call it before the first of them, which may share it.
  /// All useful warps get scratch if it fits, else fewer. Their number never changes a sample.
  void reserve(const Program& program, std::uint64_t largest) {
    if (!needs_scratch(largest)) return;
    constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
    const std::uint64_t bytes =  // if not dynamic, smallest_batch_bytes() has planned scratch of all warps
        Program::kDynamic ? std::min(kMostBytes, memory_.scratch.bytes() + device_.memory().available() / 2)
                          : ~0ull;
    const std::uint64_t each = scratch_for(program, widest()).warp_size(), most = large_warps(device_);
    const std::uint64_t warps = std::clamp<std::uint64_t>(bytes / sizeof(std::uint64_t) / each, 1, most);
    memory_.scratch.reserve(device_, warps * each, "scratch of large selections");
    units_ = static_cast<unsigned>(std::min(memory_.scratch.size() / each, most / kWarps));
  }
  /// The number of parts of the scratch: each serves a block, or at least a warp if memory is short.
  unsigned units() const { return units_; }

  template <class Turns>
  void select(const Program& program, const Selection<Turns>& some) {
    if constexpr (Program::kDynamic) {
      select_dynamic(program, some);
    } else {
      select_tabled(program, some);
    }
  }

  template <class Kernel, class... Args>
  void launch(const char* name, const Stream& stream, std::uint64_t threads, unsigned most, Kernel kernel,
              Args... args) {
    kernel<<<std::min(grid_for(threads, kSampleBlock), most), kSampleBlock, 0, stream.get()>>>(args...);
    check_launch(name);
    ++stats_.kernel_launches;
  }

  /// Begins to copy the facts to the host; a wait for the stream completes the copy.
  void fetch_facts(const Stream& stream) {
    check(cudaMemcpyAsync(memory_.host_facts.data(), memory_.facts.data(), sizeof(LevelFacts),
                          cudaMemcpyDeviceToHost, stream.get()),
          "reading counters");
  }
  void read_facts(const Stream& stream) {
    fetch_facts(stream);
    stream.wait("samples");
  }
  /// Throws UsageError if a selection ran out of random words, which then stored no edges.
  void refuse_exhausted(const Stream& stream) {
    read_facts(stream);
    if (memory_.host_facts.data()->exhausted) throw too_many_redraws();
  }

 private:
  static constexpr unsigned kWarps = kSampleBlock / 32;  ///< of a block

  /// Two launches: short lists with as many warps as are useful, longer ones with as many as have scratch.
  template <class Turns>
  void select_dynamic(const Program& program, const Selection<Turns>& some) {
    constexpr std::uint32_t kShort = GraphView::kHubDegree;
    select_lists(program, some, {0, kShort});
    if (widest() > kShort) select_lists(program, some, {kShort, ~0u});
  }

  template <class Turns>
  void select_lists(const Program& selects, const Selection<Turns>& some, ListLengths lengths) {
    const std::uint64_t longest = std::min<std::uint64_t>(widest(), lengths.most);
    const Program program = with_collision(selects, most_drawn(selects, longest));
    const LargeScratch scratch = take(some.scratch, scratch_for(program, longest));
    if (scratch.words > 0)
      check(cudaMemsetAsync(scratch.all.words, 0, scratch.warps * scratch.words * sizeof(std::uint32_t),
                            some.stream.get()),
            "clearing bitmaps");
    launch("select_large_kernel", some.stream, scratch.warps * 32, ~0u, select_large_kernel<Turns, Program>,
           program, some.level, some.turns, some.depth, lengths, scratch, memory_.facts.data(),
           memory_.totals.data());
  }

  /// The longest list that large selections draw from.
  std::uint64_t widest() const { return Program::kDynamic ? memory_.host_facts.data()->widest : max_degree_; }
  /// The most edges that an entry draws from a list of at most `longest` edges.
  std::uint64_t most_drawn(const Program& program, std::uint64_t longest) const {
    const std::uint64_t drawn = memory_.host_facts.data()->drawn;
    return program.sampler.replacement() ? drawn : std::min(drawn, longest);
  }
  /// Scratch of one warp for lists of at most `longest` edges.
  LargeScratch scratch_for(const Program& program, std::uint64_t longest) const {
    LargeScratch scratch;
    scratch.picks = most_drawn(program, longest);
    if (Program::kDynamic && program.select != Select::rejection) scratch.sums = longest;
    const bool linear = with_collision(program, scratch.picks).collision == Collision::linear;
    if (!program.sampler.replacement() && !linear) scratch.words = longest / 32 + 1;
    return scratch;
  }
  /// Scratch for as many warps as fit a part of the allocated scratch.
  LargeScratch take(const ScratchPart& part, LargeScratch scratch) const {
    const std::uint64_t units = std::min(part.units, units_), unit = memory_.scratch.size() / units_;
    const std::uint64_t most = std::max<std::uint64_t>(1, large_warps(device_) * units / units_);
    scratch.warps = std::clamp<std::uint64_t>(units * unit / scratch.warp_size(), 1, most);
    std::uint64_t* const sums = memory_.scratch.data() + part.begin * unit;
    auto* const picks = reinterpret_cast<std::uint32_t*>(sums + scratch.warps * scratch.sums);
    std::uint32_t* const excluded = picks + scratch.warps * scratch.picks;
    scratch.all = {picks, excluded, excluded + scratch.warps * scratch.picks, sums};
    return scratch;
  }

  template <class Turns>
  void select_tabled(const Program& program, const Selection<Turns>& some) {
    constexpr std::uint64_t kManyEntries = 1u << 16;
    const bool uneven = memory_.host_facts.data()->uneven != 0;
    const bool replacement = program.sampler.replacement(), small = some.largest <= kTilePicks;
    if (Turns::kListed ? replacement && small && !uneven : some.level.fanout > 0) return draw(program, some);
    // One launch is faster than two if there are few entries.
    if (some.turns.most >= kManyEntries && !replacement && small && program.select != Select::updated)
      return choose_first(program, some);
    if constexpr (Turns::kListed) {
      select_listed(program, some, some.turns);
    } else {
      select_all(program, some, nullptr, some.turns.most);
    }
    if (small) return;
    // The number of edges of listed entries is known only to the device.
    const unsigned most = Turns::kListed ? device_.multiprocessors() * 8 : ~0u;
    launch("copy_all_kernel", some.stream, some.level.edges, std::min(most, some.most_blocks),
           copy_all_kernel<Turns, Program>, program, some.level, some.turns, some.depth, some.begins);
    select_lists(program, some, {0, ~0u});
  }

  /// Warps that serve `entries` entries of `lanes` lanes each.
  static std::uint64_t warps_for(std::uint64_t entries, std::uint64_t lanes) {
    return (entries + 32 / lanes - 1) / (32 / lanes);
  }

  template <class Turns>
  void draw(const Program& program, const Selection<Turns>& some) {
    launch("draw_kernel", some.stream, warps_for(some.turns.most, some.largest) * 32, some.most_blocks,
           draw_kernel<Turns, Program>, program, some.level, some.turns, some.depth,
           static_cast<std::uint32_t>(some.largest), memory_.totals.data());
    if (Turns::kListed) return;
    stats_.selections += some.level.edges, stats_.selection_iterations += some.level.edges;
  }

  /// The host reads the number of clashing entries for AllEntries only.
  template <class Turns>
  void choose_first(const Program& program, const Selection<Turns>& some) {
    std::uint32_t* clashing = some.clashing;
    if constexpr (!Turns::kListed) {
      memory_.clashing.reserve(device_, some.turns.most, kSampleBatch);
      clashing = memory_.clashing.data();
    } else {
      check(cudaMemsetAsync(some.clashes, 0, sizeof *some.clashes, some.stream.get()), "clearing counters");
    }
    launch("first_choice_kernel", some.stream, warps_for(some.turns.most, some.largest) * 32,
           some.most_blocks, first_choice_kernel<Turns, Program>, program, some.level, some.turns,
           static_cast<std::uint32_t>(some.largest), clashing, some.clashes, memory_.totals.data());
    if constexpr (Turns::kListed) {
      select_listed(program, some, {clashing, some.turns.most, some.clashes});
    } else {
      read_facts(some.stream);
      const std::uint64_t clashes = memory_.host_facts.data()->clashing;
      if (clashes > 0) select_all(program, some, clashing, clashes);
    }
  }

  void select_all(const Program& program, const Selection<AllEntries>& some, const std::uint32_t* listed,
                  std::uint64_t count) {
    launch("select_kernel", some.stream, count * kTilePicks, ~0u, select_kernel<kTilePicks, Program>, program,
           some.level, some.depth, listed, count, memory_.totals.data());
  }
  void select_listed(const Program& program, const Selection<ListedEntries>& some,
                     const ListedEntries& turns) {
    launch("select_listed_kernel", some.stream, turns.most * kTilePicks, some.most_blocks,
           select_listed_kernel<kTilePicks, Program>, program, some.level, turns, some.depth,
           memory_.totals.data());
  }

  /// The program with the collision technique for `drawn` picks.
  Program with_collision(const Program& selects, std::uint64_t drawn) const {
    constexpr std::uint64_t kBitmapFrom = 256;  // beyond, comparing with all picks costs more than a bitmap
    Program program = selects;
    if (program.collision == Collision::linear && drawn >= kBitmapFrom && !linear_asked_)
      program.collision = Collision::bitmap;
    return program;
  }

  const Device& device_;
  std::uint32_t max_degree_;
  bool linear_asked_;   ///< `--collision linear`: never replaced by a bitmap
  unsigned units_ = 1;  ///< parts of the scratch
  SampleWorkspace& memory_;
  RunStats& stats_;
};

}  // namespace sluice::samples::cuda

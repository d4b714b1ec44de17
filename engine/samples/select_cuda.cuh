// Launches that select the edges of a depth's entries on a GPU: of all, or of those that are listed.
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

/// Entries whose edges are selected, on a stream. Where those lie is known.
template <class Turns>
struct Selection {
  LevelView level;
  Turns turns;
  std::uint32_t depth;
  std::uint64_t largest;  ///< no selection is larger
  const Stream& stream;
  const std::uint64_t* begins;        ///< [turns + 1] edges of the turns before, if any selection is large
  unsigned long long* clashes;        ///< how many entries' first choices clash; of a whole level zero
  std::uint32_t* clashing = nullptr;  ///< [turns] space for those
  unsigned most_blocks = ~0u;         ///< of a launch without scratch of its own
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

  /// May selections go on beside each other, on several streams? Large ones share scratch.
  static bool side_by_side(std::uint64_t largest) { return !Program::kDynamic && largest <= kTilePicks; }
  /// Blocks for which those take turns.
  static unsigned blocks_side_by_side() {
    if constexpr (Program::kDynamic)
      return 1;
    else
      return blocks_at_once(select_listed_kernel<kTilePicks, Program>, kSampleBlock, 0);
  }

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

  void read_facts(const Stream& stream) {
    check(cudaMemcpyAsync(memory_.host_facts.data(), memory_.facts.data(), sizeof(LevelFacts),
                          cudaMemcpyDeviceToHost, stream.get()),
          "reading counters");
    stream.wait("samples");
  }
  /// Selections that ran out of random words have stored no edges.
  void refuse_exhausted(const Stream& stream) {
    read_facts(stream);
    if (memory_.host_facts.data()->exhausted) throw too_many_redraws();
  }

 private:
  /// Short lists by as many warps as are useful, longer ones by as many as there is scratch for.
  template <class Turns>
  void select_dynamic(const Program& program, const Selection<Turns>& some) {
    const LevelFacts facts = *memory_.host_facts.data();
    constexpr std::uint32_t kShort = GraphView::kHubDegree;
    select_lists(program, some, {0, kShort}, std::min<std::uint64_t>(facts.widest, kShort), facts.drawn);
    if (facts.widest > kShort) select_lists(program, some, {kShort, ~0u}, facts.widest, facts.drawn);
  }

  /// From lists of at most `widest` entries, `drawn` edges each at most.
  template <class Turns>
  void select_lists(const Program& selects, const Selection<Turns>& some, ListLengths lengths,
                    std::uint64_t widest, std::uint64_t drawn) {
    const bool distinct = !selects.sampler.replacement();
    if (distinct) drawn = std::min(drawn, widest);
    const Program program = with_collision(selects, drawn);
    constexpr std::uint64_t kMostScratch = std::uint64_t{256} << 20;
    const std::uint64_t held =
        memory_.sums.bytes() + memory_.picks.bytes() + memory_.excluded.bytes() + memory_.words.bytes();
    const std::uint64_t most =  // smallest_batch_bytes() plans that of a tabled bias for all warps
        Program::kDynamic ? std::min(kMostScratch, held + device_.memory().available() / 2) : ~0ull;
    LargeScratch scratch = size_scratch(Program::kDynamic && program.select != Select::rejection,
                                        distinct && program.collision != Collision::linear, widest, drawn,
                                        most, large_warps(device_));
    reserve(some.stream, scratch);
    launch("select_large_kernel", some.stream, scratch.warps * 32, ~0u, select_large_kernel<Turns, Program>,
           program, some.level, some.turns, some.depth, lengths, scratch, memory_.facts.data(),
           memory_.totals.data());
  }

  template <class Turns>
  void select_tabled(const Program& program, const Selection<Turns>& some) {
    constexpr std::uint64_t kManyEntries = 1u << 16;
    const LevelFacts& facts = *memory_.host_facts.data();
    const bool replacement = program.sampler.replacement(), small = some.largest <= kTilePicks;
    if (Turns::kListed ? replacement && small && !facts.uneven : some.level.fanout > 0)
      return draw(program, some);
    // One launch is quicker than two where there is little to do.
    if (some.turns.most >= kManyEntries && !replacement && small && program.select != Select::updated)
      return choose_first(program, some);
    if constexpr (Turns::kListed) {
      select_listed(program, some, some.turns);
    } else {
      select_all(program, some, nullptr, some.turns.most);
    }
    if (small) return;
    // Of listed entries only the device knows how many edges they have.
    const unsigned most = Turns::kListed ? device_.multiprocessors() * 8 : ~0u;
    launch("copy_all_kernel", some.stream, some.level.edges, std::min(most, some.most_blocks),
           copy_all_kernel<Turns, Program>, program, some.level, some.turns, some.depth, some.begins);
    select_lists(program, some, {0, ~0u}, max_degree_, facts.drawn);
  }

  /// Warps for so many entries.
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

  /// The host waits for the number of those that clash in a whole level alone.
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

  /// The program as it finds collisions among so many picks.
  Program with_collision(const Program& selects, std::uint64_t drawn) const {
    constexpr std::uint64_t kBitmapFrom = 256;  // beyond, comparing with all picks costs more than a bitmap
    Program program = selects;
    if (program.collision == Collision::linear && drawn >= kBitmapFrom && !linear_asked_)
      program.collision = Collision::bitmap;
    return program;
  }

  /// Memory for that. The limit counts what is held: all of it is given back before any is taken anew.
  void reserve(const Stream& stream, LargeScratch& scratch) {
    const std::uint64_t sums = scratch.warps * scratch.sums, picks = scratch.warps * scratch.picks,
                        words = scratch.warps * scratch.words;
    if (sums > memory_.sums.size() || picks > memory_.picks.size() || words > memory_.words.size())
      memory_.sums = {}, memory_.picks = {}, memory_.excluded = {}, memory_.words = {};
    memory_.sums.reserve(device_, sums, "CTPS of lists as they are expanded");
    memory_.picks.reserve(device_, picks, "scratch of large selections");
    memory_.excluded.reserve(device_, picks, "scratch of large selections");
    memory_.words.reserve(device_, words, "bitmaps of large selections");
    scratch.all = {memory_.picks.data(), memory_.excluded.data(), memory_.words.data(), memory_.sums.data()};
    if (words > 0)
      check(cudaMemsetAsync(memory_.words.data(), 0, memory_.words.bytes(), stream.get()),
            "clearing bitmaps");
  }

  const Device& device_;
  std::uint32_t max_degree_;
  bool linear_asked_;  ///< `--collision linear`: never replaced by a bitmap
  SampleWorkspace& memory_;
  RunStats& stats_;
};

}  // namespace sluice::samples::cuda

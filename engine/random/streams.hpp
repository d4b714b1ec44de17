// The counter of each draw (CONTRACT section 5). The layout is part of the format version: changing it
// changes every sample ever made. Streams are one enumeration, unique by construction.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/planted.hpp"
#include "engine/core/types.hpp"
#include "engine/random/philox.hpp"

namespace sluice {

/// What is drawn. New streams are added at the end; none is ever renumbered.
///
/// The table states which random word serves which decision. No word serves two. A block has 128 bits, two
/// words: low and high. "Word j" is word j of a sequence with two words per block.
///
///   select     walks: low: index, alias slot or point of the CTPS; high: alias threshold, or `update` if
///                the table does not use the word (without `update`: `redirect`)
///              pools: block k: entry k of the step: low: which; high: its first neighbour
///              samples: distinct: word j: first choice j. With replacement: word j; alias: block j, low:
///                slot, high: threshold
///   trial      walks: block t: the proposal of trial t, as `select`
///              samples: pick j by rejection: block 64j + t, low: index, high: acceptance (dynamic bias:
///                high: alias threshold)
///   accept     walks: block t, low: acceptance of trial t
///              samples: dynamic bias, pick j: block 64j + t, low: acceptance
///   fallback   walks: block 0, all 128 bits: point of the list's CTPS
///              samples: block j, low
///   redraw     samples: word r: redraw r of this expansion, over all its picks
///   update     walks: block 0: `redirect` if `select` leaves no word (high: whether; low: where to)
///              block 1 (0 without `redirect`), high: `update` if `select` leaves no word
///              block 2: `redirect` of a dead end
///   burn       samples: word i: success or failure of neighbour i
///   start      word i: random seed i of the instance
///   one_pass   samples: block 0 of draw i (which replaces the vertex in the counter), low
///   end_point  personalized PageRank, walk j of a query: block j of each step, high: whether it continues;
///                low: the neighbour, or where a dead end leads; step 0, low: the seed
///   neighbor   pools: word k(N-1) + j-1: neighbour j > 0 of the N of the step's entry k
///              layers: word i: choice i among the entries of a depth's frontier
///   generate, weight   synthetic graphs and random weights (`io`)
///
/// A stream has 2^24 blocks. A sample that would draw more of one list (by rejection: 2^18 draws), or whose
/// redraws use them up, ends with an error.
enum class Stream : std::uint32_t {
  select,     ///< which candidate: the first choice of every pick
  trial,      ///< proposals of rejection sampling
  accept,     ///< acceptance of those proposals
  fallback,   ///< inverse transform after the last trial
  redraw,     ///< picks repeated because the first choice was taken already
  update,     ///< what the sampler's own update draws (jump, restart, metropolis-hastings)
  burn,       ///< forest-fire's number of neighbours
  start,      ///< starts and seeds drawn uniformly
  one_pass,   ///< `node` and `edge`: the draw sequence
  generate,   ///< synthetic graphs
  weight,     ///< uniform random weights on conversion
  end_point,  ///< walks of personalized PageRank, each a draw; its steps are the walk's
  neighbor,   ///< pools: further neighbours of an entry; layers: entries of the frontier
};

inline constexpr std::uint32_t kDrawBits = 24;
inline constexpr std::uint32_t kMaxDraws = 1u << kDrawBits;
/// Words of a stream that draw_at() can read: beyond them, it would read the first ones again.
inline constexpr std::uint32_t kMaxWords = 2 * kMaxDraws;

/// First counter word: {draw | stream << 24}.
SLUICE_HD std::uint32_t draw_word(Stream stream, std::uint32_t draw) {
  return (draw & (kMaxDraws - 1)) | static_cast<std::uint32_t>(stream) << kDrawBits;
}

/// Draws of one step of one walk: counter {draw | stream << 24, step, instance low, instance high}.
struct WalkDraws {
  std::uint64_t seed;
  std::uint32_t step;
  Instance instance;

  SLUICE_HD PhiloxBlock block(Stream stream, std::uint32_t draw = 0) const {
    return philox({draw_word(stream, draw), step, static_cast<std::uint32_t>(instance),
                   static_cast<std::uint32_t>(instance >> 32)},
                  seed);
  }
};

/// Draws of one expansion of one sample: counter
/// {draw | stream << 24, slot low 32, instance low 32, slot high 16 | instance high 16}. The slot is the
/// vertex; with tree semantics (`--revisit`) the path's slot; for `layer` the depth.
struct SampleDraws {
  std::uint64_t seed;
  std::uint64_t slot;
  Instance instance;

  SLUICE_HD PhiloxBlock block(Stream stream, std::uint32_t draw = 0) const {
    if (planted(Fault::reused_pick)) draw &= ~1u;
    const std::uint64_t key = planted(Fault::reused_slot) ? slot / 2 : slot;
    return philox(
        {draw_word(stream, draw), static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(instance),
         static_cast<std::uint32_t>((key >> 32) & 0xffffu) << 16 |
             static_cast<std::uint32_t>((instance >> 32) & 0xffffu)},
        seed);
  }
};

/// Word `index` of a sequence of 64-bit words, below kMaxWords: two words a block.
template <class Draws>
SLUICE_HD std::uint64_t draw_at(const Draws& draws, Stream stream, std::uint32_t index) {
  const PhiloxBlock block = draws.block(stream, index >> 1);
  return index & 1 ? block.high() : block.low();
}

}  // namespace sluice

// Sorted lists in about 2 + log2(n / d) bits a target, any of which can be read alone (Elias, JACM 21, 1974;
// Fano, 1971; as lists of neighbours: Vigna, "Quasi-succinct indices", WSDM'13). The low bits of every target
// stand side by side; the high bits are a unary code, in which the i-th one stands at position (high part +
// i), found from a sample for every 64th. All sizes follow from n and d alone, so that a plan needs no edges.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// How a list of `degree` > 0 targets below `vertices` lies in words of 32 bits: samples, high bits, and low
/// bits right behind these.
struct EliasFano {
  /// Ones between two samples.
  static constexpr std::uint32_t kSampled = 64;
  /// Longer lists are not coded: positions of bits stay below 2^32.
  static constexpr std::uint32_t kMostTargets = 1u << 27;

  std::uint32_t degree;
  std::uint32_t low_bits;
  std::uint32_t samples;  ///< sample k is the position of one 64 (k + 1)
  std::uint32_t high_bits;

  SLUICE_HD static EliasFano of(std::uint64_t vertices, std::uint32_t degree) {
    // Of floor(log2(n / d)) and one more the cheaper: it trades a low bit of each target for half of the
    // zeros. Without a division, which a GPU makes of many instructions.
    const auto n = static_cast<std::uint32_t>(vertices), last = static_cast<std::uint32_t>(vertices - 1);
    const std::uint32_t wide = bit_width(n), own = bit_width(degree), about = wide > own ? wide - own : 0;
    const std::uint32_t floor = about > 0 && n >> about < degree ? about - 1 : about;
    const std::uint32_t zeros = last >> floor, fewer = zeros >> 1;
    const bool one_more = zeros - fewer > degree;
    const std::uint32_t high = degree + (one_more ? fewer : zeros) + 1;
    return {degree, floor + (one_more ? 1 : 0), (degree - 1) / kSampled, high};
  }

  SLUICE_HD std::uint32_t words() const { return (lows_at() + degree * low_bits + 31) / 32; }

  /// Target i of the list at `words`.
  SLUICE_HD Vertex read(const std::uint32_t* words, std::uint32_t i) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t start = i < kSampled ? 0 : sample(words, i / kSampled - 1);
    std::uint32_t rest = i % kSampled, at = start / 32;
    std::uint32_t ones = high[at] & ~0u << start % 32;
    for (std::uint32_t found = count_bits(ones); found <= rest; found = count_bits(ones)) {
      rest -= found;
      ones = high[++at];
    }
    const std::uint32_t high_part = at * 32 + select(ones, rest) - i;
    return high_part << low_bits | low(words, i);
  }

  /// Calls use(target) for one of `parts` parts of the list at `words`, about as long as the others; a group
  /// of lanes calls it together. A lane has a word of high bits at a time, and a few of its
  /// targets, so that what is read of these is under way together.
  template <class Group, class Use>
  SLUICE_HD void for_each(const Group& group, const std::uint32_t* words, unsigned part, unsigned parts,
                          Use&& use) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t blocks = samples + 1;
    const auto from = static_cast<std::uint32_t>(std::uint64_t{blocks} * part / parts),
               until = static_cast<std::uint32_t>(std::uint64_t{blocks} * (part + 1) / parts);
    if (from == until) return;
    const std::uint32_t first = from == 0 ? 0 : sample(words, from - 1),
                        end = until == blocks ? high_bits : sample(words, until - 1);
    std::uint32_t before = from * kSampled;
    for (std::uint32_t at = first / 32; at * 32 < end; at += Group::kSize) {
      const std::uint32_t begin = (at + group.rank()) * 32;
      std::uint32_t ones = begin < end ? high[begin / 32] : 0;
      if (begin < first) ones &= ~0u << first % 32;
      if (begin < end && end - begin < 32) ones &= (1u << (end - begin)) - 1;
      const std::uint32_t own = count_bits(ones), through = group.inclusive_scan(own);
      for (std::uint32_t i = before + through - own, left = own; left != 0; i += kTogether) {
        const std::uint32_t some = left < kTogether ? left : kTogether;
        Vertex targets[kTogether];
        for (std::uint32_t k = 0; k < kTogether; ++k) {
          if (k >= some) continue;
          targets[k] = (begin + lowest_bit(ones) - (i + k)) << low_bits | low(words, i + k);
          ones &= ones - 1;
        }
        for (std::uint32_t k = 0; k < kTogether; ++k)
          if (k < some) use(targets[k]);
        left -= some;
      }
      before += group.broadcast(through, Group::kSize - 1);
    }
  }

  /// Is `target` in the list at `words`?
  SLUICE_HD bool contains(const std::uint32_t* words, Vertex target) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t block = count_while(samples, [&](std::uint32_t k) {
      const std::uint32_t i = kSampled * (k + 1);
      return ((sample(words, k) - i) << low_bits | low(words, i)) <= target;
    });
    const std::uint32_t start = block == 0 ? 0 : sample(words, block - 1), wanted = target >> low_bits;
    std::uint32_t i = block * kSampled, at = start / 32;
    std::uint32_t ones = high[at] & ~0u << start % 32;
    // Entries of a high part stand behind as many zeros. In the last word low bits stand behind them.
    for (std::uint32_t found = count_bits(ones);
         (at + 1) * 32 < high_bits && (at + 1) * 32 - i - found < wanted; found = count_bits(ones)) {
      i += found;
      ones = high[++at];
    }
    for (; i < degree; ++i, ones &= ones - 1) {
      while (ones == 0) ones = high[++at];
      const std::uint32_t high_part = at * 32 + lowest_bit(ones) - i;
      if (high_part < wanted) continue;  // its low bits need not be read
      const std::uint32_t entry = high_part << low_bits | low(words, i);
      if (entry >= target) return entry == target;
    }
    return false;
  }

  /// Codes a sorted list of `degree` targets into words() words that are zero. False: it is not sorted.
  bool write(std::span<const Vertex> targets, std::uint32_t* words) const {
    std::uint32_t* const high = words + sample_words();
    Vertex last = 0;
    for (std::uint32_t i = 0; i < degree; ++i) {
      const Vertex target = targets[i];
      if (target < last) return false;
      last = target;
      const std::uint32_t position = (target >> low_bits) + i;
      high[position / 32] |= 1u << position % 32;
      if (i > 0 && i % kSampled == 0) {
        const std::uint32_t k = i / kSampled - 1;
        words[wide_samples() ? k : k / 2] |= position << (wide_samples() ? 0 : k % 2 * 16);
      }
      if (low_bits > 0) put_field_at(words, lows_at() + i * low_bits, target & ((1u << low_bits) - 1));
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kTogether = 4;

  /// Position of the one that `rest` ones stand before.
  SLUICE_HD static std::uint32_t select(std::uint32_t bits, std::uint32_t rest) {
    std::uint32_t position = 0;
    for (std::uint32_t half = 16; half > 0; half /= 2) {
      const std::uint32_t below = count_bits(bits & ((1u << half) - 1));
      const bool above = rest >= below;
      rest -= above ? below : 0;
      bits = above ? bits >> half : bits;
      position += above ? half : 0;
    }
    return position;
  }

  /// Do samples take a word each, or half of one?
  SLUICE_HD bool wide_samples() const { return high_bits > 1u << 16; }
  SLUICE_HD std::uint32_t sample_words() const { return wide_samples() ? samples : (samples + 1) / 2; }
  /// The bit where low bits begin.
  SLUICE_HD std::uint32_t lows_at() const { return sample_words() * 32 + high_bits; }

  SLUICE_HD std::uint32_t sample(const std::uint32_t* words, std::uint32_t k) const {
    const std::uint32_t word = words[wide_samples() ? k : k / 2];
    return wide_samples() ? word : word >> k % 2 * 16 & 0xffff;
  }
  SLUICE_HD std::uint32_t low(const std::uint32_t* words, std::uint32_t i) const {
    return low_bits > 0 ? field_at(words, lows_at() + i * low_bits, low_bits) : 0;
  }
};

/// Where a vertex's coded list lies, in one read.
struct alignas(8) CodedRow {
  std::uint32_t begin = 0;  ///< in words
  std::uint32_t degree = 0;
};

/// Sorted lists of a graph or of a part of it, coded.
struct CodedLists {
  const CodedRow* rows = nullptr;        ///< by vertex
  const std::uint32_t* words = nullptr;  ///< null: lists are as they are

  /// Entry `index` of a vertex's list, in a graph of so many vertices.
  SLUICE_HD Vertex target(std::uint64_t vertices, Vertex v, std::uint32_t index) const {
    const CodedRow row = rows[v];
    return EliasFano::of(vertices, row.degree).read(words + row.begin, index);
  }
  /// Has a vertex's list this target? It is not empty.
  SLUICE_HD bool contain(std::uint64_t vertices, Vertex v, Vertex target) const {
    const CodedRow row = rows[v];
    return EliasFano::of(vertices, row.degree).contains(words + row.begin, target);
  }
};

}  // namespace sluice

// Sorted lists of d targets below n in about 2 + log2(n / d) bits a target, with random access (Elias, JACM
// 21, 1974; Fano, 1971; as lists of neighbours: Vigna, "Quasi-succinct indices", WSDM'13). The low bits of
// all targets are an array. The high bits are a unary code, whose i-th 1 bit is at position (high part + i);
// every 64th position is sampled. All sizes follow from n and d alone, so that a plan needs no edges.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// The layout of a list of `degree` > 0 targets below `vertices` in words of 32 bits: samples, high bits, and
/// low bits directly after these.
struct EliasFano {
  /// 1 bits per sample.
  static constexpr std::uint32_t kSampleInterval = 64;
  /// Longer lists are not coded, so that bit positions stay below 2^32.
  static constexpr std::uint32_t kMaxTargets = 1u << 27;

  std::uint32_t degree;
  std::uint32_t low_bits;
  std::uint32_t samples;  ///< sample k is the position of 1 bit 64 (k + 1)
  std::uint32_t high_bits;

  SLUICE_HD static EliasFano of(std::uint64_t vertices, std::uint32_t degree) {
    // floor(log2(n / d)) low bits or one more, whichever takes less: one more adds a low bit per target and
    // halves the zeros. There is no division, which takes a GPU many instructions.
    const auto n = static_cast<std::uint32_t>(vertices), last = static_cast<std::uint32_t>(vertices - 1);
    const std::uint32_t vertex_width = bit_width(n), degree_width = bit_width(degree),
                        about = vertex_width > degree_width ? vertex_width - degree_width : 0;
    const std::uint32_t floor = about > 0 && n >> about < degree ? about - 1 : about;
    const std::uint32_t zeros = last >> floor, fewer_zeros = zeros >> 1;
    const bool one_more = zeros - fewer_zeros > degree;
    const std::uint32_t high = degree + (one_more ? fewer_zeros : zeros) + 1;
    return {degree, floor + (one_more ? 1 : 0), (degree - 1) / kSampleInterval, high};
  }

  SLUICE_HD std::uint32_t words() const { return (low_bits_begin() + degree * low_bits + 31) / 32; }

  /// Target i of the list at `words`.
  SLUICE_HD Vertex read(const std::uint32_t* words, std::uint32_t i) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t start = i < kSampleInterval ? 0 : sample(words, i / kSampleInterval - 1);
    std::uint32_t ones_before = i % kSampleInterval, word = start / 32;
    std::uint32_t ones = high[word] & ~0u << start % 32;
    for (std::uint32_t found = count_bits(ones); found <= ones_before; found = count_bits(ones)) {
      ones_before -= found;
      ones = high[++word];
    }
    const std::uint32_t high_part = word * 32 + select(ones, ones_before) - i;
    return high_part << low_bits | low(words, i);
  }

  /// Calls use(target) for the targets of one of `parts` parts, about equally long, of the list at `words`. A
  /// group of lanes calls it together. A lane decodes one word of high bits at a time, and a few of its
  /// targets together, so that their reads overlap.
  template <class Group, class Use>
  SLUICE_HD void for_each(const Group& group, const std::uint32_t* words, unsigned part, unsigned parts,
                          Use&& use) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t blocks = samples + 1;
    const auto first_block = static_cast<std::uint32_t>(std::uint64_t{blocks} * part / parts),
               end_block = static_cast<std::uint32_t>(std::uint64_t{blocks} * (part + 1) / parts);
    if (first_block == end_block) return;
    const std::uint32_t first = first_block == 0 ? 0 : sample(words, first_block - 1),
                        end = end_block == blocks ? high_bits : sample(words, end_block - 1);
    std::uint32_t before = first_block * kSampleInterval;
    for (std::uint32_t word = first / 32; word * 32 < end; word += Group::kSize) {
      const std::uint32_t begin = (word + group.rank()) * 32;
      std::uint32_t ones = begin < end ? high[begin / 32] : 0;
      if (begin < first) ones &= ~0u << first % 32;
      if (begin < end && end - begin < 32) ones &= (1u << (end - begin)) - 1;
      const std::uint32_t lane_ones = count_bits(ones), prefix = group.inclusive_scan(lane_ones);
      for (std::uint32_t i = before + prefix - lane_ones, left = lane_ones; left != 0; i += kTargetsAtOnce) {
        const std::uint32_t batch = left < kTargetsAtOnce ? left : kTargetsAtOnce;
        Vertex targets[kTargetsAtOnce];
        for (std::uint32_t k = 0; k < kTargetsAtOnce; ++k) {
          if (k >= batch) continue;
          targets[k] = (begin + lowest_bit(ones) - (i + k)) << low_bits | low(words, i + k);
          ones &= ones - 1;
        }
        for (std::uint32_t k = 0; k < kTargetsAtOnce; ++k)
          if (k < batch) use(targets[k]);
        left -= batch;
      }
      before += group.broadcast(prefix, Group::kSize - 1);
    }
  }

  /// Whether `target` is in the list at `words`.
  SLUICE_HD bool contains(const std::uint32_t* words, Vertex target) const {
    const std::uint32_t* const high = words + sample_words();
    const std::uint32_t block = count_while(samples, [&](std::uint32_t k) {
      const std::uint32_t i = kSampleInterval * (k + 1);
      return ((sample(words, k) - i) << low_bits | low(words, i)) <= target;
    });
    const std::uint32_t start = block == 0 ? 0 : sample(words, block - 1), wanted = target >> low_bits;
    std::uint32_t i = block * kSampleInterval, word = start / 32;
    std::uint32_t ones = high[word] & ~0u << start % 32;
    // Entries with high part h come after h zeros. In the last word, low bits follow the high bits.
    for (std::uint32_t found = count_bits(ones);
         (word + 1) * 32 < high_bits && (word + 1) * 32 - i - found < wanted; found = count_bits(ones)) {
      i += found;
      ones = high[++word];
    }
    for (; i < degree; ++i, ones &= ones - 1) {
      while (ones == 0) ones = high[++word];
      const std::uint32_t high_part = word * 32 + lowest_bit(ones) - i;
      if (high_part < wanted) continue;  // its low bits need not be read
      const std::uint32_t entry = high_part << low_bits | low(words, i);
      if (entry >= target) return entry == target;
    }
    return false;
  }

  /// Codes a sorted list of `degree` targets into words() zero words. Returns false if it is not sorted.
  bool write(std::span<const Vertex> targets, std::uint32_t* words) const {
    std::uint32_t* const high = words + sample_words();
    Vertex last = 0;
    for (std::uint32_t i = 0; i < degree; ++i) {
      const Vertex target = targets[i];
      if (target < last) return false;
      last = target;
      const std::uint32_t position = (target >> low_bits) + i;
      high[position / 32] |= 1u << position % 32;
      if (i > 0 && i % kSampleInterval == 0) {
        const std::uint32_t k = i / kSampleInterval - 1;
        words[wide_samples() ? k : k / 2] |= position << (wide_samples() ? 0 : k % 2 * 16);
      }
      if (low_bits > 0) put_field_at(words, low_bits_begin() + i * low_bits, target & ((1u << low_bits) - 1));
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kTargetsAtOnce = 4;

  /// The position of the 1 bit that has `ones_before` 1 bits before it.
  SLUICE_HD static std::uint32_t select(std::uint32_t bits, std::uint32_t ones_before) {
    std::uint32_t position = 0;
    for (std::uint32_t half = 16; half > 0; half /= 2) {
      const std::uint32_t below = count_bits(bits & ((1u << half) - 1));
      const bool above = ones_before >= below;
      ones_before -= above ? below : 0;
      bits = above ? bits >> half : bits;
      position += above ? half : 0;
    }
    return position;
  }

  /// Whether a sample takes a word, and not half of one.
  SLUICE_HD bool wide_samples() const { return high_bits > 1u << 16; }
  SLUICE_HD std::uint32_t sample_words() const { return wide_samples() ? samples : (samples + 1) / 2; }
  /// The bit where low bits begin.
  SLUICE_HD std::uint32_t low_bits_begin() const { return sample_words() * 32 + high_bits; }

  SLUICE_HD std::uint32_t sample(const std::uint32_t* words, std::uint32_t k) const {
    const std::uint32_t word = words[wide_samples() ? k : k / 2];
    return wide_samples() ? word : word >> k % 2 * 16 & 0xffff;
  }
  SLUICE_HD std::uint32_t low(const std::uint32_t* words, std::uint32_t i) const {
    return low_bits > 0 ? field_at(words, low_bits_begin() + i * low_bits, low_bits) : 0;
  }
};

/// The position and the degree of a vertex's coded list, in one read.
struct alignas(8) CodedRow {
  std::uint32_t begin = 0;  ///< its first word
  std::uint32_t degree = 0;
};

/// The coded lists of a graph or of a part of it.
struct CodedLists {
  const CodedRow* rows = nullptr;        ///< by vertex
  const std::uint32_t* words = nullptr;  ///< null: lists are not coded

  /// Entry `index` of a vertex's list, in a graph of `vertices` vertices.
  SLUICE_HD Vertex target(std::uint64_t vertices, Vertex v, std::uint32_t index) const {
    const CodedRow row = rows[v];
    return EliasFano::of(vertices, row.degree).read(words + row.begin, index);
  }
  /// Whether a vertex's list, which must not be empty, has this target.
  SLUICE_HD bool contains(std::uint64_t vertices, Vertex v, Vertex target) const {
    const CodedRow row = rows[v];
    return EliasFano::of(vertices, row.degree).contains(words + row.begin, target);
  }
};

}  // namespace sluice

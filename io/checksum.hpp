// The 64-bit checksum of the graph file's blocks. It guards against damage, not against malice.
//
// Words of 8 bytes (little-endian) go round-robin to four lanes: lane = rotl((lane ^ word) * kMultiply, 31).
// Each step is a bijection of the lane for a fixed word, and of the word for a fixed lane. The last 32 bytes
// are padded with zeros. The finaliser folds lanes and length, again by one bijection for each of them. So a
// change within one word always changes the result; any other change is missed with a chance of about 2^-64.
// Four independent chains of one multiply keep a core's multiplier busy, which is faster than memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice::io {

/// Hash of a run of bytes that arrives in pieces of any size.
class Checksum {
 public:
  /// Hashes the next bytes.
  void update(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    if (buffered_ > 0) {
      const std::size_t copied = std::min(bytes.size(), kStripe - buffered_);
      std::memcpy(tail_.data() + buffered_, bytes.data(), copied);
      buffered_ += copied;
      bytes = bytes.subspan(copied);
      if (buffered_ < kStripe) return;
      absorb(tail_.data(), 1);
      buffered_ = 0;
    }
    const std::size_t stripes = bytes.size() / kStripe;
    absorb(bytes.data(), stripes);
    bytes = bytes.subspan(stripes * kStripe);
    if (!bytes.empty()) std::memcpy(tail_.data(), bytes.data(), bytes.size());
    buffered_ = bytes.size();
  }

  /// The hash of all bytes so far; may be called at any time.
  std::uint64_t value() const {
    Checksum last = *this;
    if (buffered_ > 0) {
      std::fill(last.tail_.begin() + static_cast<std::ptrdiff_t>(buffered_), last.tail_.end(), std::byte{0});
      last.absorb(last.tail_.data(), 1);
    }
    std::uint64_t hash = finish(length_ + kSeed);
    for (const std::uint64_t lane : last.lanes_) hash = finish(hash * kFold + lane);
    return hash;
  }

  /// Spreads every bit over all: a bijection of 64 bits.
  static constexpr std::uint64_t finish(std::uint64_t x) {
    x ^= x >> 32;
    x *= kMultiply;
    x ^= x >> 29;
    x *= kFold;
    return x ^ (x >> 32);
  }

 private:
  static_assert(std::endian::native == std::endian::little,
                "the file's bytes are hashed as they lie in memory");
  static constexpr std::size_t kStripe = 32;
  // Odd, so that multiplying is a bijection. The digits are those of pi, e and the golden ratio, chosen
  // arbitrarily.
  static constexpr std::uint64_t kMultiply = 0x9e3779b97f4a7c15u;
  static constexpr std::uint64_t kFold = 0xb7e151628aed2a6bu;
  static constexpr std::uint64_t kSeed = 0x243f6a8885a308d3u;

  void absorb(const std::byte* at, std::size_t stripes) {
    std::array<std::uint64_t, 4> lanes =
        lanes_;  // in registers: the loop below must not store them each time
    for (; stripes > 0; --stripes, at += kStripe) {
      std::array<std::uint64_t, 4> words;
      std::memcpy(words.data(), at, kStripe);
      for (std::size_t i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * kMultiply, 31);
    }
    lanes_ = lanes;
  }

  std::array<std::uint64_t, 4> lanes_{kSeed, kSeed + kFold, kSeed + 2 * kFold, kSeed + 3 * kFold};
  std::uint64_t length_ = 0;
  std::size_t buffered_ = 0;
  std::array<std::byte, kStripe> tail_{};
};

inline std::uint64_t checksum(std::span<const std::byte> bytes) {
  Checksum sum;
  sum.update(bytes);
  return sum.value();
}

}  // namespace sluice::io

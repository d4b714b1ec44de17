// An edge as a record for sorting: eight bytes, and more only with a weight or a time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "engine/core/types.hpp"

namespace sluice {

/// Source, target and payload in 32-bit words, without padding (8, 12, 16 or 20 bytes).
template <bool Weighted, bool Timed>
class EdgeRecord {
 public:
  static constexpr bool kWeighted = Weighted;
  static constexpr bool kTimed = Timed;

  Vertex source() const { return words_[1]; }
  Vertex target() const { return words_[0]; }
  /// Orders by source, then target.
  std::uint64_t key() const { return static_cast<std::uint64_t>(words_[1]) << 32 | words_[0]; }
  void set_ends(Vertex source, Vertex target) { words_[1] = source, words_[0] = target; }

  float weight() const {
    if constexpr (Weighted) return std::bit_cast<float>(words_[2]);
    return 1;
  }
  void set_weight(float weight) {
    if constexpr (Weighted) words_[2] = std::bit_cast<std::uint32_t>(weight);
  }

  std::int64_t time() const {
    if constexpr (Timed) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(words_[kTime + 1]) << 32 | words_[kTime]);
    }
    return 0;
  }
  void set_time(std::int64_t time) {
    if constexpr (Timed) {
      words_[kTime] = static_cast<std::uint32_t>(time);
      words_[kTime + 1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(time) >> 32);
    }
  }

 private:
  static constexpr std::size_t kTime = 2 + Weighted;
  std::array<std::uint32_t, 2 + Weighted + 2 * Timed> words_;
};

/// Calls function.operator()<Record>(), where Record carries a weight and a time only as requested.
template <class Function>
auto with_record_type(bool weighted, bool timed, Function&& function) {
  if (weighted) {
    return timed ? function.template operator()<EdgeRecord<true, true>>()
                 : function.template operator()<EdgeRecord<true, false>>();
  }
  return timed ? function.template operator()<EdgeRecord<false, true>>()
               : function.template operator()<EdgeRecord<false, false>>();
}

}  // namespace sluice

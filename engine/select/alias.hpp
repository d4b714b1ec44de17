// Alias tables of integer biases (Walker 1977; Vose 1991), built by a sweep over light and heavy entries in
// index order: a pure function of the biases, the same wherever and whenever it is built. Any entry x gets a
// share of exactly bias(x) / total up to 2^-64, the resolution of a threshold.
#pragma once

#include <cstdint>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// A slot of the plain layout.
struct AliasSlot {
  std::uint64_t threshold;  ///< the slot's own entry where random < threshold
  std::uint32_t other;  ///< index in the list otherwise; kNoVertex: no entry of the list has positive bias
};

/// floor(part * 2^64 / whole) for parts < whole, by a reciprocal of the whole: one division for all of them
/// (Moeller and Granlund, "Improved Division by Invariant Integers", IEEE Trans. Computers 60(2), 2011).
class AliasThresholds {
 public:
  /// Of a whole > 0.
  SLUICE_HD explicit AliasThresholds(std::uint64_t whole)
      : shift_(64 - bit_width(whole)), whole_(whole << shift_) {
    const Wide last = static_cast<Wide>(~whole_) << 64 | ~std::uint64_t{0};
    reciprocal_ = static_cast<std::uint64_t>(last / whole_);
  }

  SLUICE_HD std::uint64_t operator()(std::uint64_t part) const {
    const std::uint64_t high = part << shift_;
    const Wide estimate = static_cast<Wide>(reciprocal_) * high + (static_cast<Wide>(high) << 64);
    std::uint64_t quotient = static_cast<std::uint64_t>(estimate >> 64) + 1, rest = 0 - quotient * whole_;
    if (rest > static_cast<std::uint64_t>(estimate)) --quotient, rest += whole_;
    return quotient + (rest >= whole_ ? 1 : 0);
  }

 private:
  using Wide = unsigned __int128;

  std::uint32_t shift_;
  std::uint64_t whole_;       ///< with its highest bit set
  std::uint64_t reciprocal_;  ///< floor((2^128 - 1) / whole_) - 2^64
};

/// Builds the slots of one list: `bias(i)` for i < degree, `emit(i, AliasSlot)` once for every i.
/// A full slot names itself. With n entries of sum W, entry i is light if bias(i) * n <= W.
template <class BiasOf, class Emit>
SLUICE_HD void build_alias(std::uint32_t degree, std::uint64_t total, BiasOf&& bias, Emit&& emit) {
  if (total == 0) {
    for (std::uint32_t i = 0; i < degree; ++i) emit(i, AliasSlot{0, kNoVertex});
    return;
  }
  const AliasThresholds threshold(total);
  using Wide = unsigned __int128;  // bias * degree may pass 2^64 where degrees are the bias
  const auto next = [&](std::uint32_t from, bool heavy) {
    while (from < degree && (static_cast<Wide>(bias(from)) * degree > total) != heavy) ++from;
    return from;
  };
  std::uint32_t light = next(0, false), heavy = next(0, true);
  Wide rest = heavy < degree ? static_cast<Wide>(bias(heavy)) * degree : 0;  // what the heavy entry has left
  while (heavy < degree) {
    if (rest > total) {  // it fills up the next light entry's slot; light entries cannot run out before
      const Wide own = static_cast<Wide>(bias(light)) * degree;
      emit(light, own == total ? AliasSlot{~std::uint64_t{0}, light}
                               : AliasSlot{threshold(static_cast<std::uint64_t>(own)), heavy});
      rest -= total - own;
      light = next(light + 1, false);
    } else {  // what is left goes into its own slot, and the next heavy entry fills that up
      const std::uint32_t successor = next(heavy + 1, true);
      if (rest == total || successor >= degree) {
        emit(heavy, AliasSlot{~std::uint64_t{0}, heavy});
      } else {
        emit(heavy, AliasSlot{threshold(static_cast<std::uint64_t>(rest)), successor});
        rest += static_cast<Wide>(bias(successor)) * degree;
        rest -= total;
        heavy = successor;
        continue;
      }
      rest = successor < degree ? static_cast<Wide>(bias(successor)) * degree : 0;
      heavy = successor;
    }
  }
  for (; light < degree; light = next(light + 1, false)) emit(light, AliasSlot{~std::uint64_t{0}, light});
}

}  // namespace sluice

// Alias tables of integer biases (Walker 1977; Vose 1991), built by a sweep over light and heavy entries in
// index order: a pure function of the biases, the same wherever and whenever it is built. Any entry x gets a
// share of exactly bias(x) / total up to 2^-64, the resolution of a threshold.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// A slot of the plain layout.
struct AliasSlot {
  std::uint64_t threshold;  ///< the slot's own entry where random < threshold
  std::uint32_t other;  ///< index in the list otherwise; kNoVertex: no entry of the list has positive bias
};

/// floor(part * 2^64 / whole) for part < whole.
SLUICE_HD std::uint64_t alias_threshold(std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(part) << 64) / whole);
}

/// Builds the slots of one list: `bias(i)` for i < degree, `emit(i, AliasSlot)` once for every i.
/// A full slot names itself. With n entries of sum W, entry i is light if bias(i) * n <= W.
template <class BiasOf, class Emit>
SLUICE_HD void build_alias(std::uint32_t degree, std::uint64_t total, BiasOf&& bias, Emit&& emit) {
  if (total == 0) {
    for (std::uint32_t i = 0; i < degree; ++i) emit(i, AliasSlot{0, kNoVertex});
    return;
  }
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
                               : AliasSlot{alias_threshold(static_cast<std::uint64_t>(own), total), heavy});
      rest -= total - own;
      light = next(light + 1, false);
    } else {  // what is left goes into its own slot, and the next heavy entry fills that up
      const std::uint32_t successor = next(heavy + 1, true);
      if (rest == total || successor >= degree) {
        emit(heavy, AliasSlot{~std::uint64_t{0}, heavy});
      } else {
        emit(heavy, AliasSlot{alias_threshold(static_cast<std::uint64_t>(rest), total), successor});
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

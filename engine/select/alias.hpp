// Alias tables of integer biases (Walker 1977; Vose 1991), built by a sweep over light and heavy entries in
// index order. A table is a pure function of the biases, the same wherever and whenever it is built. Every
// entry x gets a share of exactly bias(x) / total up to 2^-64, the resolution of a threshold.
#pragma once

#include <cstdint>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// A slot of the plain layout.
struct AliasSlot {
  std::uint64_t threshold;  ///< the slot's own entry if random < threshold
  std::uint32_t other;  ///< index in the list otherwise; kNoVertex: no entry of the list has positive bias
};

/// floor(part * 2^64 / whole) for parts < whole, by a reciprocal of `whole`: one division for all parts
/// (Moeller and Granlund, "Improved Division by Invariant Integers", IEEE Trans. Computers 60(2), 2011).
class AliasThresholds {
 public:
  /// `whole` must be > 0.
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

/// Iterates over the light entries of a list, or the heavy ones, in index order.
template <class BiasOf, bool kHeavy>
class AliasEntries {
 public:
  SLUICE_HD AliasEntries(std::uint32_t degree, std::uint64_t mean, const BiasOf& bias)
      : bias_of_(bias), mean_(mean), degree_(degree) {
    seek();
  }
  SLUICE_HD explicit operator bool() const { return index_ < degree_; }
  SLUICE_HD std::uint32_t index() const { return index_; }
  SLUICE_HD std::uint64_t bias() const { return bias_; }
  SLUICE_HD void next() {
    ++index_;
    seek();
  }

 private:
  SLUICE_HD void seek() {
    while (index_ < degree_ && ((bias_ = bias_of_(index_)) > mean_) != kHeavy) ++index_;
  }

  const BiasOf& bias_of_;
  std::uint64_t mean_, bias_ = 0;
  std::uint32_t degree_, index_ = 0;
};

/// Builds the slots of one list from bias(i), i < degree; calls emit(i, AliasSlot) once for every i.
/// A full slot has its own index as `other`. With n entries of sum W, entry i is light if bias(i) * n <= W.
template <template <class, bool> class Entries = AliasEntries, class BiasOf, class Emit>
SLUICE_HD void build_alias(std::uint32_t degree, std::uint64_t total, const BiasOf& bias, const Emit& emit) {
  if (total == 0) {
    for (std::uint32_t i = 0; i < degree; ++i) emit(i, AliasSlot{0, kNoVertex});
    return;
  }
  const AliasThresholds threshold(total);
  using Wide = unsigned __int128;  // bias * degree may exceed 2^64 if biases are degrees
  Entries<BiasOf, false> light(degree, total / degree, bias);
  Entries<BiasOf, true> heavy(degree, total / degree, bias);
  Wide remaining = heavy ? static_cast<Wide>(heavy.bias()) * degree : 0;  // what is left of the heavy entry
  while (heavy) {
    const std::uint32_t heavy_index = heavy.index();
    for (; remaining > total; light.next()) {  // fills up slots of light entries, which cannot run out first
      const Wide scaled_bias = static_cast<Wide>(light.bias()) * degree;
      emit(light.index(), scaled_bias == total
                              ? AliasSlot{~std::uint64_t{0}, light.index()}
                              : AliasSlot{threshold(static_cast<std::uint64_t>(scaled_bias)), heavy_index});
      remaining -= total - scaled_bias;
    }
    // The rest goes into the heavy entry's own slot, and the next heavy entry fills that up.
    heavy.next();
    const bool full = remaining == total || !heavy;
    emit(heavy_index, full ? AliasSlot{~std::uint64_t{0}, heavy_index}
                           : AliasSlot{threshold(static_cast<std::uint64_t>(remaining)), heavy.index()});
    remaining = (full ? 0 : remaining - total) + (heavy ? static_cast<Wide>(heavy.bias()) * degree : 0);
  }
  for (; light; light.next()) emit(light.index(), AliasSlot{~std::uint64_t{0}, light.index()});
}

}  // namespace sluice

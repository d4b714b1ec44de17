// Forest fire (Leskovec, Kleinberg, Faloutsos, KDD'05, section 4.2): a vertex burns as many neighbours as
// there are successes before the first failure.
#pragma once

#include "engine/random/uniform.hpp"
#include "engine/samples/traversal.hpp"

namespace sluice::samples {

struct ForestFireSample : NamedBias {
  static constexpr BiasClass kBias = BiasClass::fixed;
  std::uint32_t depths = 2;
  Probability success;

  SLUICE_HD std::uint32_t depth() const { return depths; }
  SLUICE_HD bool replacement() const { return false; }
  SLUICE_HD std::uint64_t neighbor_size(const GraphView&, const Expansion&, std::uint64_t candidates,
                                        const SampleDraws& draws) const {
    // kMaxWords successes exceed the draws that a list allows, so the run ends with an error.
    const std::uint64_t max_burnt = candidates < kMaxWords ? candidates : kMaxWords;
    std::uint32_t burnt = 0;
    while (burnt < max_burnt && success.happens(draw_at(draws, Stream::burn, burnt))) ++burnt;
    return burnt;
  }
};

}  // namespace sluice::samples

#include "engine/ppr/seeds.hpp"

#include <algorithm>
#include <cmath>

#include "engine/batch/starts_view.hpp"

namespace sluice::ppr {

void Seeds::assign(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance instance) {
  seeds_.clear();
  const StartsView view{starts.mode,
                        vertices,
                        seed,
                        starts.vertices.data(),
                        starts.offsets.empty() ? nullptr : starts.offsets.data(),
                        1};
  const std::uint64_t count = view.count(instance);
  const auto weight = [&](std::uint64_t i) {
    return starts.weights.empty() ? 1.0 : starts.weights[starts.offsets[instance] + i];
  };
  double total = 0;
  for (std::uint64_t i = 0; i < count; ++i) total += weight(i);
  // Each quotient is rounded to the nearest double; `left` keeps their sum at most 1.
  unsigned __int128 left = static_cast<unsigned __int128>(1) << 64;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double share = std::min(weight(i) / total, kBelow);
    const auto units = static_cast<std::uint64_t>(
        std::min<unsigned __int128>(static_cast<std::uint64_t>(std::ldexp(share, 64)), left));
    left -= units;
    seeds_.push_back({view.seed_vertex(instance, i), units});
  }
}

}  // namespace sluice::ppr

// Where the mass of a query comes from, and returns to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/types.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/sampling/starts.hpp"

namespace sluice {

/// A seed and its share of what is given to all of them, in units of 2^-64; a vertex may come twice.
struct Seed {
  Vertex vertex = 0;
  std::uint64_t share = 0;
};

/// The seeds of one query.
class Seeds {
 public:
  /// Those of query `instance`; keeps the memory of the last ones.
  void assign(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance instance);

  const std::vector<Seed>& all() const { return seeds_; }
  /// Calls give(vertex, share) for each of them; shares are rounded down.
  template <class Give>
  void split(Mass mass, Give&& give) const {
    if (seeds_.size() == 1) return give(seeds_[0].vertex, mass);
    for (const Seed& seed : seeds_) give(seed.vertex, multiply_high(mass, seed.share));
  }

  /// One of them, by 64 random bits, with probability proportional to its share.
  Vertex pick(std::uint64_t random) const {
    if (seeds_.size() == 1) return seeds_[0].vertex;
    std::uint64_t total = 0;
    for (const Seed& seed : seeds_) total += seed.share >> 1;
    std::uint64_t point = uniform_index(random, total);
    std::size_t at = 0;
    for (; point >= seeds_[at].share >> 1; ++at) point -= seeds_[at].share >> 1;
    return seeds_[at].vertex;
  }

 private:
  std::vector<Seed> seeds_;
};

}  // namespace sluice

// The seeds of a query: its mass starts there, and may return there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/group.hpp"
#include "engine/ppr/mass.hpp"

namespace sluice::ppr {

/// A seed and its share of mass that all seeds get, in units of 2^-64. A vertex may occur twice.
struct Seed {
  Vertex vertex = 0;
  std::uint64_t share = 0;
};

/// The seeds of one query.
struct SeedsView {
  const Seed* seeds = nullptr;
  std::uint32_t count = 0;

  /// The part of `mass` that seed i gets, rounded down.
  SLUICE_HD Mass share(std::uint32_t i, Mass mass) const {
    return count == 1 ? mass : multiply_high(mass, seeds[i].share);
  }

  /// Draws a seed from 64 random bits, with probability proportional to its share.
  SLUICE_HD Vertex pick(std::uint64_t random) const {
    if (count == 1) return seeds[0].vertex;
    const auto half_share = [this](std::uint32_t i) { return seeds[i].share >> 1; };  // so that sums fit
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < count; ++i) total += half_share(i);
    const std::uint64_t point = uniform_index(random, total);
    return seeds[first_sum_above(SingleLane{}, count, point, half_share).index()].vertex;
  }
};

/// Owns the seeds of one query.
class Seeds {
 public:
  /// Sets the seeds of query `instance`; reuses the memory of the previous ones.
  void assign(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance instance);

  const std::vector<Seed>& all() const { return seeds_; }
  SeedsView view() const { return {seeds_.data(), static_cast<std::uint32_t>(seeds_.size())}; }

 private:
  std::vector<Seed> seeds_;
};

}  // namespace sluice::ppr

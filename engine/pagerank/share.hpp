// The contribution of a source to its out-neighbours, in the three forms in which it is stored.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/pagerank/fixed_rank.hpp"
#include "engine/pagerank/options.hpp"

namespace sluice::pagerank {

/// A rank divided by its source's divisor, above 0, and not yet rounded to an integer.
SLUICE_HD double rank_quotient(FixedRank rank, double divisor) {
  return rank_detail::divide(static_cast<double>(static_cast<std::int64_t>(rank)), divisor);
}

/// An equal part of the rank for every edge: 8 bytes a source.
struct EvenShare {
  using Stored = FixedRank;
  static constexpr bool kWeighted = false;
  SLUICE_HD static Stored from_rank(FixedRank rank, double divisor) {
    return rank_detail::round_to_nearest(rank_quotient(rank, divisor));
  }
  SLUICE_HD static FixedRank edge_contribution(Stored stored, float) { return stored; }
};

/// An equal part with 24 significant bits: 4 bytes a source. An integer rounded to a float is still an
/// integer (scaled by a power of two), so sums stay exact. Each share is rounded once, when it is stored,
/// with a relative error of 2^-24. So ranks err in L1 by at most d 2^-24 / (1 - d), 3.4e-7 for d = 0.85.
struct EvenShare32 {
  using Stored = float;
  static constexpr bool kWeighted = false;
  SLUICE_HD static Stored from_rank(FixedRank rank, double divisor) {
    return static_cast<float>(static_cast<std::int64_t>(EvenShare::from_rank(rank, divisor)));
  }
  SLUICE_HD static FixedRank edge_contribution(Stored stored, float) {
    return static_cast<FixedRank>(static_cast<std::int64_t>(stored));
  }
};

/// Parts in proportion to weights: a double a source, rounded to an integer for each edge.
struct WeightedShare {
  using Stored = double;
  static constexpr bool kWeighted = true;
  SLUICE_HD static Stored from_rank(FixedRank rank, double divisor) { return rank_quotient(rank, divisor); }
  SLUICE_HD static FixedRank edge_contribution(Stored stored, float weight) {
    return rank_detail::round_to_nearest(rank_detail::multiply(stored, weight));
  }
};

/// Calls make(share) with the form that `options` select.
template <class Make>
auto with_share(const Options& options, Make&& make) {
  if (options.weighted) return make(WeightedShare{});
  return options.precision == RankPrecision::f32 ? make(EvenShare32{}) : make(EvenShare{});
}

/// The contribution of a vertex; 0 for a dangling one.
template <class Share>
SLUICE_HD typename Share::Stored share_of(FixedRank rank, double divisor) {
  return divisor > 0 ? Share::from_rank(rank, divisor) : typename Share::Stored{0};
}

/// Lane `lane`'s part of the contributions that the `count` sources at `sources` give to one vertex.
template <class Share>
SLUICE_HD FixedRank pull(const typename Share::Stored* shares, const Vertex* sources, const float* weights,
                         std::uint64_t count, std::uint64_t lane = 0, std::uint64_t lanes = 1) {
  FixedRank sum = 0;
  for (std::uint64_t i = lane; i < count; i += lanes) {
    sum += Share::edge_contribution(shares[sources[i]], Share::kWeighted ? weights[i] : 1.0f);
  }
  return sum;
}

}  // namespace sluice::pagerank

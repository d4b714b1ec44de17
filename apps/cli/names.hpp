// The names that options, reports and result attributes use for the engine's choices.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include "engine/acc/options.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/paging.hpp"
#include "engine/pagerank/options.hpp"
#include "engine/samples/options.hpp"
#include "engine/select/options.hpp"
#include "engine/walks/options.hpp"
#include "io/convert/convert.hpp"
#include "io/edge_source.hpp"
#include "io/generate/generate.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

template <class E>
struct Name {
  const char* name;
  E value;
};

/// Names of an enumeration's first values, in the order of the enumeration.
template <class E, class... Text>
constexpr std::array<Name<E>, sizeof...(Text)> names_in_order(Text... names) {
  int value = 0;
  return {Name<E>{names, static_cast<E>(value++)}...};
}

template <class E, std::size_t N>
constexpr const char* name_of(const std::array<Name<E>, N>& names, E value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

inline constexpr auto kTransports = names_in_order<Transport>("auto", "copied", "mapped", "file");

inline constexpr auto kWalkKinds = names_in_order<walks::Kind>(
    "uniform", "biased", "metropolis-hastings", "jump", "restart", "node2vec", "multidimensional");

inline constexpr auto kSampleKinds =
    names_in_order<samples::Kind>("neighbor", "forest-fire", "snowball", "layer", "node", "edge");

inline constexpr auto kRankMethods =
    names_in_order<pagerank::RankMethod>("static", "nd", "dt", "df", "dfp", "dfr");

inline constexpr auto kRankNorms = names_in_order<pagerank::RankNorm>("linf", "l1", "l2");

inline constexpr auto kDanglings = names_in_order<pagerank::Dangling>("uniform", "self-loop");

inline constexpr auto kRankRows = names_in_order<pagerank::RankRows>("auto", "listed", "sliced");

inline constexpr auto kAffectAll = names_in_order<bool>("never", "above-half");

inline constexpr auto kRankSplits = names_in_order<pagerank::RankSplit>("none", "in", "in-out");

inline constexpr auto kRankPrecisions = names_in_order<pagerank::RankPrecision>("f64", "f32");

inline constexpr auto kAccDirections = names_in_order<acc::AccDirection>("auto", "push", "pull");

inline constexpr auto kAccFilters = names_in_order<acc::AccFilter>("jit", "ballot", "online", "batch");

inline constexpr auto kAccFusions = names_in_order<acc::AccFusion>("auto", "none", "push-pull", "all");

inline constexpr auto kBiases = names_in_order<Bias>("none", "weight", "degree");

/// No "none": a biased walk without a bias is `uniform`.
inline constexpr std::array kWalkBiases{kBiases[1], kBiases[2]};

inline constexpr auto kSelects =
    names_in_order<Select>("auto", "its", "alias", "rejection", "repeated", "updated", "bipartite");

inline constexpr auto kCollisions = names_in_order<Collision>("auto", "linear", "bitmap", "strided-bitmap");

inline constexpr auto kLayouts = names_in_order<Layout>("auto", "csr", "wide", "coded");

inline constexpr auto kResultFormats = names_in_order<io::ResultFormat>("h5", "npy", "text");

inline constexpr auto kEdgeFormats =
    names_in_order<io::EdgeFormat>("auto", "edges", "mtx", "metis", "dimacs", "binary");

inline constexpr auto kWeightRules = names_in_order<io::WeightRule>("none", "column", "uniform");

/// No "column": a generator has no weight column.
inline constexpr std::array kGeneratedWeights{kWeightRules[0], kWeightRules[2]};

inline constexpr auto kGraphKinds =
    std::apply([](auto... names) { return names_in_order<io::GraphKind>(names...); }, io::kGraphKindNames);

}  // namespace sluice::apps

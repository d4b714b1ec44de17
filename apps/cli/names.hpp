// The names that options, reports and result attributes use for the engine's choices.
#pragma once

#include <array>
#include <cstddef>

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

template <class E, std::size_t N>
constexpr const char* name_of(const std::array<Name<E>, N>& names, E value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

inline constexpr std::array kTransports{
    Name<Transport>{"auto", Transport::automatic},
    Name<Transport>{"copied", Transport::copied},
    Name<Transport>{"mapped", Transport::mapped},
    Name<Transport>{"file", Transport::file},
};

inline constexpr std::array kWalkKinds{
    Name<WalkKind>{"uniform", WalkKind::uniform},
    Name<WalkKind>{"biased", WalkKind::biased},
    Name<WalkKind>{"metropolis-hastings", WalkKind::metropolis_hastings},
    Name<WalkKind>{"jump", WalkKind::jump},
    Name<WalkKind>{"restart", WalkKind::restart},
    Name<WalkKind>{"node2vec", WalkKind::node2vec},
    Name<WalkKind>{"multidimensional", WalkKind::multidimensional},
};

inline constexpr std::array kSampleKinds{
    Name<SampleKind>{"neighbor", SampleKind::neighbor},
    Name<SampleKind>{"forest-fire", SampleKind::forest_fire},
    Name<SampleKind>{"snowball", SampleKind::snowball},
    Name<SampleKind>{"layer", SampleKind::layer},
    Name<SampleKind>{"node", SampleKind::node},
    Name<SampleKind>{"edge", SampleKind::edge},
};

inline constexpr std::array kRankMethods{
    Name<pagerank::RankMethod>{"static", pagerank::RankMethod::from_scratch},
    Name<pagerank::RankMethod>{"nd", pagerank::RankMethod::naive_dynamic},
    Name<pagerank::RankMethod>{"dt", pagerank::RankMethod::dynamic_traversal},
    Name<pagerank::RankMethod>{"df", pagerank::RankMethod::dynamic_frontier},
    Name<pagerank::RankMethod>{"dfp", pagerank::RankMethod::pruned_frontier},
    Name<pagerank::RankMethod>{"dfr", pagerank::RankMethod::residual_frontier},
};

inline constexpr std::array kRankNorms{
    Name<pagerank::RankNorm>{"linf", pagerank::RankNorm::linf},
    Name<pagerank::RankNorm>{"l1", pagerank::RankNorm::l1},
    Name<pagerank::RankNorm>{"l2", pagerank::RankNorm::l2},
};

inline constexpr std::array kDanglings{
    Name<pagerank::Dangling>{"uniform", pagerank::Dangling::uniform},
    Name<pagerank::Dangling>{"self-loop", pagerank::Dangling::self_loop},
};

inline constexpr std::array kRankRows{
    Name<pagerank::RankRows>{"auto", pagerank::RankRows::automatic},
    Name<pagerank::RankRows>{"listed", pagerank::RankRows::listed},
    Name<pagerank::RankRows>{"sliced", pagerank::RankRows::sliced},
};

inline constexpr std::array kRankSplits{
    Name<pagerank::RankSplit>{"none", pagerank::RankSplit::none},
    Name<pagerank::RankSplit>{"in", pagerank::RankSplit::in},
    Name<pagerank::RankSplit>{"in-out", pagerank::RankSplit::in_out},
};

inline constexpr std::array kRankPrecisions{
    Name<pagerank::RankPrecision>{"f64", pagerank::RankPrecision::f64},
    Name<pagerank::RankPrecision>{"f32", pagerank::RankPrecision::f32},
};

inline constexpr std::array kBiases{
    Name<Bias>{"none", Bias::none},
    Name<Bias>{"weight", Bias::weight},
    Name<Bias>{"degree", Bias::degree},
};

/// A biased walk without a bias would be `uniform`.
inline constexpr std::array kWalkBiases{kBiases[1], kBiases[2]};

inline constexpr std::array kSelects{
    Name<Select>{"auto", Select::automatic},      Name<Select>{"its", Select::its},
    Name<Select>{"alias", Select::alias},         Name<Select>{"rejection", Select::rejection},
    Name<Select>{"repeated", Select::repeated},   Name<Select>{"updated", Select::updated},
    Name<Select>{"bipartite", Select::bipartite},
};

inline constexpr std::array kCollisions{
    Name<Collision>{"auto", Collision::automatic},
    Name<Collision>{"linear", Collision::linear},
    Name<Collision>{"bitmap", Collision::bitmap},
    Name<Collision>{"strided-bitmap", Collision::strided_bitmap},
};

inline constexpr std::array kLayouts{
    Name<Layout>{"auto", Layout::automatic},
    Name<Layout>{"csr", Layout::csr},
    Name<Layout>{"wide", Layout::wide},
    Name<Layout>{"coded", Layout::coded},
};

inline constexpr std::array kResultFormats{
    Name<io::ResultFormat>{"h5", io::ResultFormat::h5},
    Name<io::ResultFormat>{"npy", io::ResultFormat::npy},
    Name<io::ResultFormat>{"text", io::ResultFormat::text},
};

inline constexpr std::array kEdgeFormats{
    Name<io::EdgeFormat>{"auto", io::EdgeFormat::automatic},
    Name<io::EdgeFormat>{"edges", io::EdgeFormat::edges},
    Name<io::EdgeFormat>{"mtx", io::EdgeFormat::mtx},
    Name<io::EdgeFormat>{"metis", io::EdgeFormat::metis},
    Name<io::EdgeFormat>{"dimacs", io::EdgeFormat::dimacs},
    Name<io::EdgeFormat>{"binary", io::EdgeFormat::binary},
};

inline constexpr std::array kWeightRules{
    Name<io::WeightRule>{"none", io::WeightRule::none},
    Name<io::WeightRule>{"column", io::WeightRule::column},
    Name<io::WeightRule>{"uniform", io::WeightRule::uniform},
};

/// A generator has no weight column.
inline constexpr std::array kGeneratedWeights{kWeightRules[0], kWeightRules[2]};

inline constexpr std::array kGraphKinds{
    Name<io::GraphKind>{"rmat", io::GraphKind::rmat},
    Name<io::GraphKind>{"kronecker", io::GraphKind::kronecker},
    Name<io::GraphKind>{"uniform", io::GraphKind::uniform},
    Name<io::GraphKind>{"grid", io::GraphKind::grid},
    Name<io::GraphKind>{"ring", io::GraphKind::ring},
};

}  // namespace sluice::apps

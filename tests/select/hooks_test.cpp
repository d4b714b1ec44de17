// The hooks of a sampler that do not compile, because they would never be called, shape by shape.
#include <gtest/gtest.h>

#include "engine/samples/kinds/edge.hpp"
#include "engine/samples/kinds/forest_fire.hpp"
#include "engine/samples/kinds/layer.hpp"
#include "engine/samples/kinds/multidimensional.hpp"
#include "engine/samples/kinds/neighbor.hpp"
#include "engine/samples/kinds/node.hpp"
#include "engine/samples/kinds/snowball.hpp"
#include "engine/samples/layer/sampler.hpp"
#include "engine/samples/one_pass/one_pass.hpp"
#include "engine/samples/pool/sampler.hpp"
#include "engine/samples/traversal.hpp"
#include "engine/walks/kinds/biased.hpp"
#include "engine/walks/kinds/jump.hpp"
#include "engine/walks/kinds/metropolis_hastings.hpp"
#include "engine/walks/kinds/node2vec.hpp"
#include "engine/walks/kinds/restart.hpp"
#include "engine/walks/kinds/uniform.hpp"
#include "engine/walks/sampler.hpp"

namespace sluice::test {
namespace {

constexpr bool operator==(HookSet a, HookSet b) {
  return a.bits == b.bits;
}
constexpr HookSet kNone{};

// Built-in kinds have only the hooks of their shape.
static_assert(walks::never_called_by_walks<walks::UniformWalk>() == kNone);
static_assert(walks::never_called_by_walks<walks::BiasedWalk>() == kNone);
static_assert(walks::never_called_by_walks<walks::MetropolisHastingsWalk>() == kNone);
static_assert(walks::never_called_by_walks<walks::JumpWalk>() == kNone);
static_assert(walks::never_called_by_walks<walks::RestartWalk>() == kNone);
static_assert(walks::never_called_by_walks<walks::Node2vecWalk>() == kNone);
static_assert(samples::never_called_by_samples<samples::NeighborSample>() == kNone);
static_assert(samples::never_called_by_samples<samples::ForestFireSample>() == kNone);
static_assert(samples::never_called_by_samples<samples::SnowballSample>() == kNone);
static_assert(samples::never_called_by_layers<samples::LayerSample>() == kNone);
static_assert(samples::never_called_by_pools<samples::MultidimensionalWalk>() == kNone);
static_assert(samples::never_called_in_one_pass<samples::NodeSample>() == kNone);
static_assert(samples::never_called_in_one_pass<samples::EdgeSample>() == kNone);

// Hooks of other shapes in any form: data, a function, a template.
struct WalkWithDepth : walks::UniformWalk {
  std::uint32_t depth = 3;
};
struct WalkWithSizes : walks::UniformWalk {
  template <class At>
  std::uint64_t neighbor_size(const GraphView&, const At&) const {
    return 2;
  }
  std::uint64_t vertex_bias(const GraphView&, Vertex) const { return 1; }
};
static_assert(walks::never_called_by_walks<WalkWithDepth>() == hooks(Hook::depth));
static_assert(walks::never_called_by_walks<WalkWithSizes>() == hooks(Hook::neighbor_size, Hook::vertex_bias));

// A floor is called only beside a bound, and uniformity of edge biases only beside edge biases.
struct WalkWithFloor {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  std::uint64_t dynamic_bias(const GraphView&, const walks::Walker&, const Edge&) const { return 1; }
  std::uint64_t bias_floor() const { return 1; }
  bool edge_bias_is_uniform(const GraphView&) const { return true; }
};
struct WalkWithBoundAndFloor : WalkWithFloor {
  std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
  std::uint64_t bias_bound() const { return 1; }
};
static_assert(walks::never_called_by_walks<WalkWithFloor>() ==
              hooks(Hook::bias_floor, Hook::edge_bias_is_uniform));
static_assert(walks::never_called_by_walks<WalkWithBoundAndFloor>() == kNone);

struct SampleWithRedirect : samples::SnowballSample {
  std::uint64_t vertex_bias(const GraphView&, Vertex) const { return 1; }
  Vertex redirect(const GraphView&, const samples::Expansion&) const { return 0; }
  walks::Question question(const walks::Walker&, const Edge&) const { return {}; }
};
static_assert(samples::never_called_by_samples<SampleWithRedirect>() ==
              hooks(Hook::vertex_bias, Hook::redirect, Hook::question));

struct PoolWithDepth : samples::MultidimensionalWalk {
  std::uint32_t depth() const { return 2; }
  bool replacement() const { return true; }
  std::uint64_t dynamic_bias(const GraphView&, const Edge&) const { return 1; }
};
static_assert(samples::never_called_by_pools<PoolWithDepth>() ==
              hooks(Hook::depth, Hook::replacement, Hook::dynamic_bias));

struct LayerWithSizes : samples::LayerSample {
  static constexpr BiasClass kBias = BiasClass::fixed;
  std::uint64_t vertex_bias(const GraphView&, Vertex) const { return 1; }
  std::uint64_t neighbor_size(const GraphView&, const samples::Expansion&, std::uint64_t,
                              const SampleDraws&) const {
    return 2;
  }
};
static_assert(samples::never_called_by_layers<LayerWithSizes>() ==
              hooks(Hook::kBias, Hook::neighbor_size, Hook::vertex_bias));

struct NodesWithBias : samples::NodeSample {
  std::uint64_t vertex_bias(const GraphView&, Vertex) const { return 1; }
  std::uint32_t depth() const { return 2; }
};
static_assert(samples::never_called_in_one_pass<NodesWithBias>() == hooks(Hook::vertex_bias, Hook::depth));

struct PoolWithUniverse : samples::MultidimensionalWalk {
  static constexpr bool kDrawsVertices = true;
  std::uint64_t sample_size = 2;
  std::uint64_t universe(const Graph&) const { return 5; }
};
static_assert(samples::never_called_by_pools<PoolWithUniverse>() ==
              hooks(Hook::kDrawsVertices, Hook::sample_size, Hook::universe));

// Hooks that belong to another kBias.
struct UniformWithBias : walks::UniformWalk {
  std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
  std::uint64_t bias_bound() const { return 1; }
};
struct BiasedWithHistory : walks::BiasedWalk {
  std::uint64_t dynamic_bias(const GraphView&, const walks::Walker&, const Edge&) const { return 1; }
};
static_assert(walks::never_called_by_walks<UniformWithBias>() == hooks(Hook::edge_bias, Hook::bias_bound));
static_assert(walks::never_called_by_walks<BiasedWithHistory>() == hooks(Hook::dynamic_bias));

// Hooks of the shape with other parameters.
struct WalkWithUpdateOfSamples : walks::UniformWalk {
  Vertex update(const GraphView&, const samples::Expansion&, const Edge& edge) const { return edge.target; }
};
struct SampleWithUpdateOfWalks : samples::SnowballSample {
  Vertex update(const GraphView&, const walks::Walker&, const Edge& edge, walks::EdgeDegrees,
                std::uint64_t) const {
    return edge.target;
  }
};
struct PoolWithNeighborsOfSamples : samples::MultidimensionalWalk {
  std::uint64_t neighbor_size(const GraphView&, const samples::Expansion&, std::uint64_t,
                              const SampleDraws&) const {
    return 2;
  }
  Vertex update(const GraphView&, const Edge& edge) const { return edge.target; }
};
static_assert(samples::never_called_by_pools<PoolWithNeighborsOfSamples>() ==
              hooks(Hook::neighbor_size, Hook::update));
struct LayerWithUpdateOfSamples : samples::LayerSample {
  Vertex update(const GraphView&, const samples::Expansion&, const Edge& edge) const { return edge.target; }
};
static_assert(samples::never_called_by_layers<LayerWithUpdateOfSamples>() == hooks(Hook::update));
static_assert(walks::never_called_by_walks<WalkWithUpdateOfSamples>() == hooks(Hook::update));
static_assert(samples::never_called_by_samples<SampleWithUpdateOfWalks>() == hooks(Hook::update));

struct EdgesWithUniverseOfADevice : samples::EdgeSample {
  std::uint64_t universe(const GraphView& graph) const { return graph.edges(); }
};
static_assert(samples::never_called_in_one_pass<EdgesWithUniverseOfADevice>() == hooks(Hook::universe));

// Every hook that a pool may have.
struct FullPool : samples::MultidimensionalWalk {
  std::uint32_t frontier_size() const { return 2; }
  std::uint32_t neighbor_size() const { return 3; }
  bool replacement() const { return false; }
  std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
  Vertex update(const GraphView&, Vertex, Vertex to) const { return to; }
};
static_assert(samples::never_called_by_pools<FullPool>() == kNone);

// Every hook that a layer may have.
struct FullLayer : samples::LayerSample {
  std::uint64_t frontier_size(std::uint32_t) const { return 2; }
  std::uint64_t vertex_bias(const GraphView&, Vertex) const { return 1; }
  Vertex update(const GraphView&, const Edge& edge) const { return edge.target; }
};
static_assert(samples::never_called_by_layers<FullLayer>() == kNone);

// A hook whose constraint does not hold does not count.
template <bool kBound>
struct PerhapsBounded {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  std::uint64_t dynamic_bias(const GraphView&, const walks::Walker&, const Edge&) const { return 1; }
  std::uint64_t bias_bound() const requires kBound { return 1; }
};
static_assert(walks::never_called_by_walks<PerhapsBounded<false>>() == kNone);
static_assert(walks::never_called_by_walks<PerhapsBounded<true>>() == kNone);

TEST(Hooks, SetsHoldWhatWasPutIn) {
  constexpr HookSet set = hooks(Hook::depth, Hook::edge_bias).with(Hook::update, false);

  EXPECT_TRUE(set.has(Hook::depth) && set.has(Hook::edge_bias));
  EXPECT_FALSE(set.has(Hook::update) || set.has(Hook::question));
}

}  // namespace
}  // namespace sluice::test

// The sampling API (after C-SAW, Pandey et al., SC'20, section III). A sampler is a small trivially copyable
// struct that defines the biases of edges; the engine chooses how to draw. All decisions are made in
// integers.
//
// Hooks of a walk's sampler (neighbour size 1, with replacement, depth = the walk's length):
//   kBias                              required: uniform, fixed (a function of the edge) or dynamic
//   edge_bias(graph, edge)             integer factor of the bias; fixed: required, dynamic: optional
//   dynamic_bias(graph, walker, edge)  dynamic: required; the candidate's bias is the product of both
//   question(walker, edge)             dynamic: names two vertices, one of the walk and one of the edge.
//                                      dynamic_bias's fourth argument tells whether the first has an edge to
//                                      the second. In partitions this is the only access to other lists
//   edge_bias_is_uniform(graph)        dynamic: true if edge_bias is the same for all edges of this graph
//   bias_bound(), bias_floor()         dynamic: upper (and lower) bound of dynamic_bias, if known. With a
//                                      bound the engine draws by rejection, otherwise by inverse transform
//   kReadsNoList                       true: only edge_bias reads edge data; lists may be coded, slots wide
//   redirect(graph, walker, random, dead_end)
//                                      returns a vertex to go to instead of along an edge, or kNoVertex
//   update(graph, walker, edge, degrees, random)
//                                      returns the vertex after `edge` was selected; default: its target
// Hooks may read the offsets and degrees of all vertices, but only the edges of the walker's list.
// Tables (alias, CTPS) hold fixed biases, so `edge_bias` must depend on graph and edge alone.
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/random/philox.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/hooks.hpp"

namespace sluice::walks {

/// A walk as a sampler sees it.
struct Walker {
  Instance instance = 0;
  std::uint32_t step = 0;   ///< 0 at the first step
  std::uint32_t trial = 0;  ///< rejection: proposals made in this step
  Vertex start = kNoVertex;
  Vertex previous = kNoVertex;  ///< kNoVertex at the first step
  Vertex current = kNoVertex;
  Row row;  ///< the current vertex's list
};

/// Asks whether the edge from -> to exists. If `from` is kNoVertex, nothing is asked and the answer is no.
struct Question {
  Vertex from = kNoVertex;
  Vertex to = kNoVertex;
};

/// Degrees of both ends of a selected edge.
struct EdgeDegrees {
  std::uint32_t source;
  std::uint32_t target;
};

template <class S>
concept ReadsNoList = requires {
  requires S::kReadsNoList;
};
template <class S>
concept HasRedirect = requires(const S s, const GraphView& g, const Walker& w, const PhiloxBlock& r) {
  { s.redirect(g, w, r, true) } -> std::same_as<Vertex>;
};
template <class S>
concept HasUpdate = requires(const S s, const GraphView& g, const Walker& w, const Edge& e, EdgeDegrees d) {
  { s.update(g, w, e, d, std::uint64_t{}) } -> std::same_as<Vertex>;
};
template <class S>
concept HasQuestion = requires(const S s, const Walker& w, const Edge& e) {
  { s.question(w, e) } -> std::same_as<Question>;
};
template <class S>
concept HasAnsweredBias = HasQuestion<S> &&
    requires(const S s, const GraphView& g, const Walker& w, const Edge& e) {
  { s.dynamic_bias(g, w, e, true) } -> std::convertible_to<std::uint64_t>;
};
template <class S>
concept HasDynamicBias = HasAnsweredBias<S> ||
    requires(const S s, const GraphView& g, const Walker& w, const Edge& e) {
  { s.dynamic_bias(g, w, e) } -> std::convertible_to<std::uint64_t>;
};

/// True if a hook may read more of a drawn edge than its two vertices.
template <class S>
inline constexpr bool kReadsDrawnEdge = !ReadsNoList<S> && (HasUpdate<S> || HasDynamicBias<S>);

/// Requirements on a walk's sampler.
template <class S>
concept WalkSampler = std::is_trivially_copyable_v<S> && requires {
  { S::kBias } -> std::convertible_to<BiasClass>;
} &&(S::kBias != BiasClass::fixed || HasEdgeBias<S>)&&(S::kBias != BiasClass::dynamic || HasDynamicBias<S>);

/// The hooks of a sampler that a walk never calls.
template <WalkSampler S>
constexpr HookSet never_called_by_walks() {
  using enum Hook;
  constexpr HookSet names = hooks(kBias, edge_bias, edge_bias_is_uniform, dynamic_bias, question, bias_bound,
                                  bias_floor, kReadsNoList, redirect, update);
  constexpr bool dynamic = S::kBias == BiasClass::dynamic;
  return never_called<S>(names,
                         hooks(kBias)
                             .with(edge_bias, S::kBias != BiasClass::uniform && HasEdgeBias<S>)
                             .with(edge_bias_is_uniform, dynamic && HasUniformEdgeBias<S> && HasEdgeBias<S>)
                             .with(dynamic_bias, dynamic)
                             .with(question, dynamic && HasAnsweredBias<S>)
                             .with(bias_bound, dynamic && HasBound<S>)
                             .with(bias_floor, dynamic && HasFloor<S> && HasBound<S>)
                             .with(kReadsNoList)
                             .with(redirect, HasRedirect<S>)
                             .with(update, HasUpdate<S>));
}

}  // namespace sluice::walks

// The hooks of all samplers, and which shape of sampler calls which.
//
// C-SAW (Pandey et al., SC'20, Fig. 2(b)) has one loop: select entries of the pool (VertexBias,
// FrontierSize), select neighbours from the list of one entry or from the pooled lists of the frontier
// (EdgeBias, NeighborSize), update the pool, until Depth. One pass draws from all vertices or edges at once.
// A sampler is a trivially copyable struct with some of these hooks, and the function that runs it names its
// shape:
//
//   hook           run_walk run_sample run_pool run_layer run_one_pass what it says
//   kBias          required required                                   on what the bias of an edge depends
//   edge_bias      may have may have   may have may have               bias of an edge
//   dynamic_bias   may have may have                                   part of it that depends on the history
//   vertex_bias                        required may have               bias of an entry of pool or frontier
//   pool_size                          required                        seeds of the pool
//   frontier_size                      may have may have               entries that a step or depth selects
//   neighbor_size           required   may have                        edges that an entry selects
//   replacement             required   may have                        may it select an edge twice?
//   layer_size                                  required               edges that the pooled lists select
//   kDrawsVertices                                        required     vertices are drawn, or else edges
//   sample_size                                           required     vertices or edges that are drawn
//   universe                                              may have     vertices or edges to draw from
//   depth                   required            required               rounds; of others, the run's length
//   update         may have may have   may have may have               where a selected edge leads
//
// The headers of the shapes say how a hook is called, and define the hooks of one shape only:
// engine/walks/sampler.hpp, engine/samples/traversal.hpp, engine/samples/pool/sampler.hpp,
// engine/samples/layer/sampler.hpp, engine/samples/one_pass/one_pass.hpp.
//
// A hook that would never be called does not compile: neither a name that belongs to other shapes, nor one
// that the shape would call with other arguments, or with another kBias. A sampler must not give these names
// to its own data.
#pragma once

#include <cstdint>

namespace sluice {

#define SLUICE_FOR_EACH_HOOK(X) \
  X(kBias)                      \
  X(edge_bias)                  \
  X(edge_bias_is_uniform)       \
  X(dynamic_bias)               \
  X(question)                   \
  X(bias_bound)                 \
  X(bias_floor)                 \
  X(kReadsNoList)               \
  X(redirect)                   \
  X(vertex_bias)                \
  X(pool_size)                  \
  X(frontier_size)              \
  X(neighbor_size)              \
  X(layer_size)                 \
  X(kDrawsVertices)             \
  X(sample_size)                \
  X(universe)                   \
  X(replacement)                \
  X(depth)                      \
  X(update)

enum class Hook : unsigned {
#define SLUICE_HOOK(hook) hook,
  SLUICE_FOR_EACH_HOOK(SLUICE_HOOK)
#undef SLUICE_HOOK
};

struct HookSet {
  std::uint32_t bits = 0;

  constexpr bool has(Hook hook) const { return bits >> static_cast<unsigned>(hook) & 1; }
  constexpr HookSet with(Hook hook, bool present = true) const {
    return {bits | std::uint32_t{present} << static_cast<unsigned>(hook)};
  }
  constexpr HookSet without(HookSet others) const { return {bits & ~others.bits}; }
};

/// The set of these hooks.
template <class... Hooks>
constexpr HookSet hooks(Hooks... members) {
  HookSet set;
  ((set = set.with(members)), ...);
  return set;
}

// Detects a member by its name: a second member of that name makes the name ambiguous, whatever the member is
// (data, a function, a template).
#define SLUICE_HOOK(hook)      \
  struct SecondMember_##hook { \
    int hook;                  \
  };                           \
  template <class Sampler>     \
  struct WithSecond_##hook : Sampler, SecondMember_##hook {};
SLUICE_FOR_EACH_HOOK(SLUICE_HOOK)
#undef SLUICE_HOOK

/// The hooks whose names a sampler has.
template <class Sampler>
constexpr HookSet names_of() {
  HookSet set;
#define SLUICE_HOOK(hook) \
  set = set.with(         \
      Hook::hook, !requires { &WithSecond_##hook<Sampler>::hook; });
  SLUICE_FOR_EACH_HOOK(SLUICE_HOOK)
#undef SLUICE_HOOK
  return set;
}

/// The hooks whose names denote one member each of the sampler, whose constraints hold.
template <class Sampler>
constexpr HookSet members_of() {
  HookSet set;
#define SLUICE_HOOK(hook) \
  set = set.with(         \
      Hook::hook, requires { &Sampler::hook; });
  SLUICE_FOR_EACH_HOOK(SLUICE_HOOK)
#undef SLUICE_HOOK
  return set;
}

/// The hooks of a sampler that a shape never calls: `names` are the hooks that the shape has, `called` those
/// that it calls of this sampler.
template <class Sampler>
constexpr HookSet never_called(HookSet names, HookSet called) {
  const HookSet other_shapes = names_of<Sampler>().without(names);
  return {other_shapes.bits | members_of<Sampler>().without(called).bits};
}

/// Does not compile if `never` has a hook, and names it.
template <HookSet never>
constexpr void refuse_hooks() {
#define SLUICE_HOOK(hook)                       \
  static_assert(                                \
      !never.has(Hook::hook),                   \
      "this sampler's '" #hook                  \
      "' would never be called: its shape has " \
      "no such hook, or calls it with other arguments or another kBias (engine/select/hooks.hpp)");
  SLUICE_FOR_EACH_HOOK(SLUICE_HOOK)
#undef SLUICE_HOOK
}

}  // namespace sluice

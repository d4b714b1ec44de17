// The techniques of each kind. Each is listed, so that a combination that is silently refused or accepted
// fails a test.
#pragma once

#include <string>
#include <vector>

#include "engine/samples/options.hpp"
#include "engine/select/options.hpp"
#include "engine/walks/options.hpp"

namespace sluice::stat {

inline std::string name_of(Select select) {
  constexpr const char* kNames[] = {"automatic", "its",     "alias",    "rejection",
                                    "repeated",  "updated", "bipartite"};
  return kNames[static_cast<int>(select)];
}

inline std::string name_of(Bias bias) {
  constexpr const char* kNames[] = {"none", "weight", "degree"};
  return kNames[static_cast<int>(bias)];
}

inline std::string name_of(walks::Kind kind) {
  constexpr const char* kNames[] = {"uniform", "biased",   "metropolis_hastings", "jump",
                                    "restart", "node2vec", "multidimensional"};
  return kNames[static_cast<int>(kind)];
}

inline constexpr Select kSelects[] = {Select::automatic, Select::its,     Select::alias,    Select::rejection,
                                      Select::repeated,  Select::updated, Select::bipartite};

/// Techniques of a walk. A walk without a bias allows the techniques of a static bias, since all biases are
/// 1. Alias tables do not support node2vec, whose bias depends on the previous vertex.
inline std::vector<Select> selects_of(walks::Kind kind) {
  switch (kind) {
    case walks::Kind::multidimensional:
      return {Select::automatic, Select::its};
    case walks::Kind::node2vec:
      return {Select::automatic, Select::its, Select::rejection};
    default:
      return {Select::automatic, Select::its, Select::alias, Select::rejection};
  }
}

inline std::string name_of(Collision collision) {
  constexpr const char* kNames[] = {"automatic", "linear", "bitmap", "strided_bitmap", "strided_bytes"};
  return kNames[static_cast<int>(collision)];
}

inline std::string name_of(samples::Kind kind) {
  constexpr const char* kNames[] = {"neighbor", "forest_fire", "snowball", "layer", "node", "edge"};
  return kNames[static_cast<int>(kind)];
}

/// Techniques of a sample: without replacement region search and its alternatives, with replacement those of
/// a walk. A snowball selects every edge with any technique.
inline std::vector<Select> selects_of(samples::Kind kind, bool replace = false) {
  if (replace) return {Select::automatic, Select::its, Select::alias, Select::rejection};
  switch (kind) {
    case samples::Kind::neighbor:
    case samples::Kind::forest_fire:
    case samples::Kind::snowball:
      return {Select::automatic, Select::repeated, Select::updated, Select::bipartite};
    case samples::Kind::layer:
      return {Select::automatic, Select::its, Select::repeated, Select::updated, Select::bipartite};
    default:
      return {Select::automatic};
  }
}

}  // namespace sluice::stat

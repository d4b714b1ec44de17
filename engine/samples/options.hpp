// Options of samples; names and defaults are those of CONTRACT section 4.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/options.hpp"

namespace sluice::samples {

enum class Kind { neighbor, forest_fire, snowball, layer, node, edge };

struct Options : RunOptions {
  Kind kind = Kind::neighbor;
  std::vector<std::int64_t> fanout;        ///< neighbor: one per depth, -1: all
  std::uint32_t depth = 2;                 ///< forest-fire, snowball
  std::vector<std::uint64_t> layer_sizes;  ///< layer: K per depth
  std::uint64_t count = 0;                 ///< node, edge: C
  Bias bias = Bias::none;
  double probability = 0.7;  ///< forest-fire
  bool replace = false;      ///< neighbor: independent draws
  bool revisit = false;      ///< tree semantics
  Collision collision = Collision::automatic;
};

/// Throws UsageError naming the option (`--fanout`, `--count`, ...) whose value is invalid.
void validate(const Options& options);

}  // namespace sluice::samples

// What a user may ask of walks and samples; names and defaults are those of CONTRACT section 4.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice {

/// What the probability of an edge is proportional to.
enum class Bias { none, weight, degree };

/// How a candidate is selected. `automatic`: by kind and options alone, never by memory or hardware.
enum class Select { automatic, its, alias, rejection, repeated, updated, bipartite, keys };

/// How a pick finds that its candidate was taken already. Changes counters and speed, never a draw.
enum class Collision { automatic, linear, bitmap, strided_bitmap };

/// How edges lie in memory. `wide`: an edge carries its target's offset and degree. `coded`, in partitions:
/// lists in fewer bits. Never changes a draw.
enum class Layout { automatic, csr, wide, coded };

/// What tables take where the host does the work, in bytes an edge, at most, with some room to use them.
inline constexpr std::uint64_t kTableEdgeBytes = 16;

enum class WalkKind { uniform, biased, metropolis_hastings, jump, restart, node2vec, multidimensional };
enum class SampleKind { neighbor, forest_fire, snowball, layer, node, edge };

/// Options that walks and samples share.
struct RunOptions {
  std::uint64_t seed = 1;
  Select select = Select::automatic;
  Layout layout = Layout::automatic;
  Instance first_instance = 0;            ///< `--instance-range A:B`
  Instance last_instance = ~Instance{0};  ///< one behind the last; clipped to the number of instances
  /// Called between waves with instances done and in all; may throw to stop.
  std::function<void(Instance done, Instance total)> progress;
};

struct WalkOptions : RunOptions {
  WalkKind kind = WalkKind::uniform;
  std::uint32_t length = 80;        ///< steps
  Bias bias = Bias::weight;         ///< biased; node2vec always uses weights
  double probability = 0.15;        ///< jump, restart
  double p = 1, q = 1;              ///< node2vec
  std::uint32_t frontier_size = 1;  ///< multidimensional: seeds in the pool
};

struct SampleOptions : RunOptions {
  SampleKind kind = SampleKind::neighbor;
  std::vector<std::int64_t> fanout;        ///< neighbor: one a depth, -1: all
  std::uint32_t depth = 2;                 ///< forest-fire, snowball
  std::vector<std::uint64_t> layer_sizes;  ///< layer: K a depth
  std::uint64_t count = 0;                 ///< node, edge: C
  Bias bias = Bias::none;
  double probability = 0.7;  ///< forest-fire
  bool replace = false;      ///< neighbor: independent draws
  bool revisit = false;      ///< tree semantics
  Collision collision = Collision::automatic;
};

/// Throws UsageError naming the option (`--p`, `--fanout`, ...) where a value has no meaning.
void validate(const WalkOptions& options);
void validate(const SampleOptions& options);

}  // namespace sluice

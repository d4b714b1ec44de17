// The options of a draw that a user may choose (CONTRACT section 4).
#pragma once

#include <cstdint>

namespace sluice {

/// What the probability of an edge is proportional to.
enum class Bias { none, weight, degree };

/// How a candidate is selected. `automatic`: by kind and options alone, never by memory or hardware.
enum class Select { automatic, its, alias, rejection, repeated, updated, bipartite };

/// How a pick finds that its candidate was taken already. Changes counters and speed, never a draw.
/// `strided_bytes` is the strided bitmap with words of 8 bits, for comparison.
enum class Collision { automatic, linear, bitmap, strided_bitmap, strided_bytes };

}  // namespace sluice

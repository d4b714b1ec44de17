// Residency of a graph's lists, a policy that is chosen at compile time.
#pragma once

#include <concepts>

namespace sluice::acc {

/// This process reaches all lists in place: it owns every vertex, sends nothing, and waits for no partition.
struct Whole {
  static constexpr bool kComplete = true;
};

/// A rank reaches those of its own vertices, perhaps in partitions that are brought.
struct Partitioned {
  static constexpr bool kComplete = false;
};

template <class R>
concept Residency = requires {
  { R::kComplete } -> std::convertible_to<bool>;
};

}  // namespace sluice::acc

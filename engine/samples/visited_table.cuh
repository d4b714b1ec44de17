// Which vertices an instance has visited, for all instances of a batch at once: one hash table keyed by
// instance and vertex. Its value is the earliest edge that reached the vertex, kept by an atomic minimum, so
// that the table says the same whatever order the lanes come in.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"

namespace sluice::samples::cuda {

struct VisitedSlot {
  unsigned long long key;    ///< instance << 32 | vertex; all ones: free
  unsigned long long stamp;  ///< 0: visited in an earlier round; else 1 + the edge's number in this round
};

/// A table of `mask` + 1 slots (a power of two), all bits set before use.
struct VisitedTable {
  VisitedSlot* slots;
  std::uint64_t mask;

  static constexpr unsigned long long kFree = ~0ull;

  __device__ __forceinline__ static unsigned long long key_of(std::uint32_t instance, Vertex vertex) {
    return static_cast<unsigned long long>(instance) << 32 | vertex;
  }
  __device__ __forceinline__ std::uint64_t first_slot(unsigned long long key) const {
    key ^= key >> 32;
    return (key * 0x9E3779B97F4A7C15ull >> 20) & mask;
  }
  __device__ __forceinline__ void reach(std::uint32_t instance, Vertex vertex,
                                        unsigned long long stamp) const {
    const unsigned long long key = key_of(instance, vertex);
    std::uint64_t at = first_slot(key);
    while (true) {
      const unsigned long long found = atomicCAS(&slots[at].key, kFree, key);
      if (found == kFree || found == key) break;
      at = (at + 1) & mask;
    }
    atomicMin(&slots[at].stamp, stamp);
  }
  /// The stamp of a key that is there.
  __device__ __forceinline__ unsigned long long stamp(std::uint32_t instance, Vertex vertex) const {
    const unsigned long long key = key_of(instance, vertex);
    std::uint64_t at = first_slot(key);
    while (slots[at].key != key) at = (at + 1) & mask;
    return slots[at].stamp;
  }
};

}  // namespace sluice::samples::cuda

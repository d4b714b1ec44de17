// Lists of vertices on a GPU, without repeats and by degree, so that a vertex is worked on by one thread, a
// tile of a warp, a warp, or several blocks. Appending takes one atomic sum a warp and class.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::pagerank {

/// Largest degrees of the classes: a thread takes a few edges one by one; 8 lanes read one sector of 32 bytes
/// at once; a warp one line; what is longer is cut among blocks, for a small frontier would wait for its hub.
inline constexpr std::uint64_t kThreadEdges = 4;
inline constexpr std::uint64_t kTileEdges = 64;
inline constexpr std::uint64_t kWarpEdges = 2048;
inline constexpr unsigned kListClasses = 4;

inline __host__ __device__ unsigned list_class(std::uint64_t degree) {
  return degree <= kThreadEdges ? 0 : degree <= kTileEdges ? 1 : degree <= kWarpEdges ? 2 : 3;
}

/// How many of a list are in each class.
struct ListSizes {
  unsigned count[kListClasses] = {};
};

SLUICE_HD std::uint64_t all_of(const ListSizes& sizes) {
  return std::uint64_t{sizes.count[0]} + sizes.count[1] + sizes.count[2] + sizes.count[3];
}

/// A list in memory of the device; trivially copyable. Short and long rows have an array each, which two
/// classes fill from both ends.
struct VertexList {
  Vertex* few = nullptr;
  Vertex* many = nullptr;
  std::uint64_t capacity = 0, capacity_many = 0;
  unsigned* sizes = nullptr;  ///< [kListClasses]

  /// Entry i of a class.
  __host__ __device__ Vertex& at(unsigned of_class, std::uint64_t i) const {
    switch (of_class) {
      case 0:
        return few[i];
      case 1:
        return few[capacity - 1 - i];
      case 2:
        return many[i];
      default:
        return many[capacity_many - 1 - i];
    }
  }

  /// Entry i of all classes, one after the other.
  __device__ Vertex at(const ListSizes& known, std::uint64_t i) const {
    unsigned of_class = 0;
    while (i >= known.count[of_class]) i -= known.count[of_class++];
    return at(of_class, i);
  }

  __device__ void append(Vertex v, unsigned of_class) const {
    const unsigned peers = __match_any_sync(__activemask(), of_class);
    const unsigned lane = threadIdx.x % 32, first = static_cast<unsigned>(__ffs(static_cast<int>(peers))) - 1;
    unsigned place = 0;
    if (lane == first) place = atomicAdd(sizes + of_class, static_cast<unsigned>(__popc(peers)));
    place = __shfl_sync(peers, place, static_cast<int>(first));
    at(of_class, place + static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)))) = v;
  }
};

/// The memory of a list.
class ListMemory {
 public:
  /// For all of `vertices`, among which are those of the long rows of `edges`.
  void reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges) {
    few_.reserve(device, vertices, "lists of affected vertices");
    many_.reserve(device, std::min(vertices, edges / kTileEdges + 1), "lists of affected vertices");
  }

  VertexList view(unsigned* sizes) const {
    return {few_.data(), many_.data(), few_.size(), many_.size(), sizes};
  }

 private:
  Buffer<Vertex> few_, many_;
};

}  // namespace sluice::pagerank

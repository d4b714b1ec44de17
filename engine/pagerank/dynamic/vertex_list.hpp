// Lists of vertices without repeats. On a GPU they are by degree class, so that one thread, a tile of a warp,
// a warp or several blocks handle a vertex; to append takes one atomic sum a warp and class. On the host they
// have one class, and a lane appends some tens of vertices at once.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/traverse/degree_class.hpp"
#if defined(__CUDACC__)
#include "engine/exec/algorithms/places.cuh"
#endif

namespace sluice::pagerank {

/// How many vertices of a list are in each class.
struct ListSizes {
  unsigned long long count[kListClasses] = {};
};

SLUICE_HD std::uint64_t total_size(const ListSizes& sizes) {
  return sizes.count[0] + sizes.count[1] + sizes.count[2] + sizes.count[3];
}

/// An estimate of their edges: each class counts with a degree from its middle, on a logarithmic scale.
SLUICE_HD std::uint64_t estimated_edges(const ListSizes& sizes) {
  return sizes.count[0] + 16 * sizes.count[1] + 360 * sizes.count[2] + 2 * kLongDegree * sizes.count[3];
}

/// A list in device memory; trivially copyable. Short and long rows have an array each, which two classes
/// fill from both ends.
struct VertexList {
  Vertex* short_rows = nullptr;
  Vertex* long_rows = nullptr;
  std::uint64_t capacity = 0, long_capacity = 0;
  unsigned long long* sizes = nullptr;  ///< [kListClasses]
  unsigned number = 0;                  ///< of its class 0, among all classes that lanes append to

  /// Entry i of a class.
  SLUICE_HD Vertex& at(unsigned row_class, std::uint64_t i) const {
    switch (row_class) {
      case 0:
        return short_rows[i];
      case 1:
        return short_rows[capacity - 1 - i];
      case 2:
        return long_rows[i];
      default:
        return long_rows[long_capacity - 1 - i];
    }
  }

  /// Entry i of all classes, one after the other.
  SLUICE_HD Vertex at(const ListSizes& known, std::uint64_t i) const {
    for (unsigned c = 0; c + 1 < kListClasses; ++c) {
      if (i < known.count[c]) return at(c, i);
      i -= known.count[c];
    }
    return at(kListClasses - 1, i);
  }

  template <class Lane>
  SLUICE_HD void append(Vertex v, unsigned row_class, [[maybe_unused]] Lane& lane) const {
#if defined(__CUDA_ARCH__)
    at(row_class, cuda::claim_position(sizes, row_class)) = v;
#else
    lane.append(number + row_class, v);
#endif
  }
};

}  // namespace sluice::pagerank

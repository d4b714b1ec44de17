// A ball's sub-graph with the state of its diffusion, in one piece of memory or in several.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::ppr {

/// Local ids number the vertices by distance from the middle. Inner vertices, nearer than the ball's depth,
/// have lists; the outermost only receive mass.
struct SubGraphSize {
  std::uint64_t vertices = 0, inner = 0, edges = 0;
  bool weighted = false;
};

/// Trivially copyable. M: the type of stored masses.
template <class M>
struct SubGraphView {
  double* totals = nullptr;          ///< [inner] sums of weights, if mass splits by weight
  M* residual = nullptr;             ///< [vertices] residual: mass to be split
  M* score = nullptr;                ///< [inner]
  M* moving = nullptr;               ///< [inner] moving mass of this round plus 1; 0: no residual
  std::uint32_t* offsets = nullptr;  ///< [inner + 1] where lists begin
  std::uint32_t* targets = nullptr;  ///< [edges] local ids
  float* weights = nullptr;          ///< [edges], if mass splits by weight
  std::uint8_t* received = nullptr;  ///< [inner] not 0: mass arrived, or a share of 0

  SLUICE_HD static std::uint64_t bytes(const SubGraphSize& size) {
    return size.vertices * sizeof(M) + size.inner * (2 * sizeof(M) + sizeof(std::uint32_t) + 1) +
           sizeof(std::uint32_t) + size.edges * sizeof(Vertex) +
           (size.weighted ? size.inner * sizeof(double) + size.edges * sizeof(float) : 0);
  }
  /// Places the view in bytes(size) bytes at `at`, which is aligned to 8.
  SLUICE_HD static SubGraphView place(unsigned char* at, const SubGraphSize& size) {
    SubGraphView view;
    view.totals = reinterpret_cast<double*>(at);
    view.residual = reinterpret_cast<M*>(view.totals + (size.weighted ? size.inner : 0));
    view.score = view.residual + size.vertices;
    view.moving = view.score + size.inner;
    view.offsets = reinterpret_cast<std::uint32_t*>(view.moving + size.inner);
    view.targets = view.offsets + size.inner + 1;
    view.weights = reinterpret_cast<float*>(view.targets + size.edges);
    view.received = reinterpret_cast<std::uint8_t*>(view.weights + (size.weighted ? size.edges : 0));
    return view;
  }
};

}  // namespace sluice::ppr

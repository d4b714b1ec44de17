// A ball's sub-graph with what its diffusion changes, in one piece of memory or in several.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::ppr {

/// Its vertices have local ids by distance from the middle. The inner ones, nearer than the ball's depth,
/// have lists; the outermost only receive mass.
struct SubGraphSize {
  std::uint64_t vertices = 0, inner = 0, edges = 0;
  bool weighted = false;
};

/// Trivially copyable. M is what it stores masses as.
template <class M>
struct SubGraphView {
  double* totals = nullptr;          ///< [inner] sums of weights, where mass splits by weight
  M* waiting = nullptr;              ///< [vertices] mass to be split
  M* score = nullptr;                ///< [inner]
  M* moving = nullptr;               ///< [inner] 1 more than what moves in this round; 0: nothing was there
  std::uint32_t* offsets = nullptr;  ///< [inner + 1] where lists begin
  std::uint32_t* targets = nullptr;  ///< [edges] local ids
  float* weights = nullptr;          ///< [edges], where mass splits by weight
  std::uint8_t* received = nullptr;  ///< [inner] not 0: mass has come there, or a share that was 0

  SLUICE_HD static std::uint64_t bytes(const SubGraphSize& size) {
    return size.vertices * sizeof(M) + size.inner * (2 * sizeof(M) + sizeof(std::uint32_t) + 1) +
           sizeof(std::uint32_t) + size.edges * sizeof(Vertex) +
           (size.weighted ? size.inner * sizeof(double) + size.edges * sizeof(float) : 0);
  }
  /// In bytes(size) from there on, which is aligned to 8.
  SLUICE_HD static SubGraphView place(unsigned char* at, const SubGraphSize& size) {
    SubGraphView view;
    view.totals = reinterpret_cast<double*>(at);
    view.waiting = reinterpret_cast<M*>(view.totals + (size.weighted ? size.inner : 0));
    view.score = view.waiting + size.vertices;
    view.moving = view.score + size.inner;
    view.offsets = reinterpret_cast<std::uint32_t*>(view.moving + size.inner);
    view.targets = view.offsets + size.inner + 1;
    view.weights = reinterpret_cast<float*>(view.targets + size.edges);
    view.received = reinterpret_cast<std::uint8_t*>(view.weights + (size.weighted ? size.edges : 0));
    return view;
  }
};

}  // namespace sluice::ppr

// Synthetic graphs as edge sources: the same edges for a seed, whatever the threads or batches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/exec/device.hpp"
#include "io/edge_source.hpp"

namespace sluice::io {

enum class GraphKind { rmat, kronecker, uniform, grid, ring };
inline constexpr std::array kGraphKindNames{"rmat", "kronecker", "uniform", "grid", "ring"};

struct GenerateOptions {
  GraphKind kind = GraphKind::kronecker;
  unsigned scale = 16;        ///< 2^scale vertices (grid: 2^(scale/2) rows, 2^((scale+1)/2) columns)
  unsigned edge_factor = 16;  ///< edges per vertex; ignored for grid and ring
  std::uint64_t seed = 1;
  unsigned threads = 1;
  const Device* device = nullptr;  ///< a GPU that draws and sorts the edges; null: the host does
};

/// `rmat`: a, b, c, d = 0.57, 0.19, 0.19, 0.05, ids not permuted. `kronecker`: the same probabilities, with
/// vertex labels permuted as in Graph500. `uniform`: both ends uniform (Erdos-Renyi G(n, m)). `grid`:
/// 4-neighbour lattice. `ring`: v to v+1.
std::unique_ptr<EdgeStream> make_generator(const GenerateOptions& options);

}  // namespace sluice::io

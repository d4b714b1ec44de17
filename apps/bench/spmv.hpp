// cuSPARSE's sparse matrix-vector product, for comparison. Its library is loaded on demand: nothing else of
// the program needs it.
#pragma once

#include <string>
#include <vector>

#include "engine/exec/device.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

struct SpmvTimes {
  std::string name;             ///< `cuSPARSE SpMV, f64, CSR, algorithm 1`
  std::vector<double> seconds;  ///< of each repetition
};

/// Multiplies the graph's out-edges, as a matrix of ones, by a vector, with every CSR algorithm. Empty
/// without a GPU, without cuSPARSE, or for more edges than 32-bit offsets can count.
std::vector<SpmvTimes> measure_spmv(const Device& device, const Graph& graph, unsigned repetitions);
/// As measure_spmv, for a GPU; only in a build with CUDA.
std::vector<SpmvTimes> cuda_spmv(const Device& device, const Graph& graph, unsigned repetitions);

}  // namespace sluice::bench

// cuSPARSE's sparse matrix-vector product, for comparison. The library is opened when it is wanted: the
// program does not need it otherwise.
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

/// One product of the graph's out-edges, as a matrix of ones, with a vector, by every algorithm for CSR.
/// Empty without a GPU, without cuSPARSE, or for more edges than its 32-bit offsets can count.
std::vector<SpmvTimes> measure_spmv(const Device& device, const Graph& graph, unsigned repetitions);
/// The same on a device that is a GPU; only in a build with CUDA.
std::vector<SpmvTimes> cuda_spmv(const Device& device, const Graph& graph, unsigned repetitions);

}  // namespace sluice::bench

#include "apps/bench/spmv.hpp"

namespace sluice::bench {

std::vector<SpmvTimes> measure_spmv([[maybe_unused]] const Device& device,
                                    [[maybe_unused]] const Graph& graph,
                                    [[maybe_unused]] unsigned repetitions) {
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) return cuda_spmv(device, graph, repetitions);
#endif
  return {};
}

}  // namespace sluice::bench

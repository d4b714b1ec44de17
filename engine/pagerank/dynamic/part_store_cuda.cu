// Dynamic ranks on a GPU, or on the GPUs of several ranks, that do not hold the graph (part_store.hpp).
#include "engine/pagerank/dynamic/cuda_link.cuh"
#include "engine/pagerank/dynamic/part_store.hpp"
#include "engine/pagerank/dynamic/solver.hpp"

namespace sluice::pagerank {

template <class Share>
using CudaPartStore = PartStore<Share, CudaLink<Share>>;

std::unique_ptr<DynamicRanks::State> make_part_cuda_ranks(const Device& device, const Graph& graph,
                                                          std::span<const double> ranks,
                                                          const Options& options, const RankPlace& place) {
  return make_dynamic_solver<CudaPartStore>(device, graph, ranks, options, place);
}

}  // namespace sluice::pagerank

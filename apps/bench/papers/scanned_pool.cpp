#include "apps/bench/papers/scanned_pool.hpp"

#include "engine/samples/kinds/multidimensional.hpp"
#include "engine/samples/pool/pool.hpp"

namespace sluice::bench::papers {

namespace {

struct ScannedWalk : samples::MultidimensionalWalk {
  using ScansPool = void;
};

}  // namespace

RunStats run_scanned_pool(ResidentGraph& graph, const Starts& starts, std::uint32_t seeds,
                          std::uint32_t length, const RunOptions& options) {
  return samples::run_pool(graph, starts, ScannedWalk{{seeds}}, length, options, nullptr);
}

}  // namespace sluice::bench::papers

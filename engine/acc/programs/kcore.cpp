#include "engine/acc/programs/kcore.hpp"

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"

namespace sluice::acc {

CoreResult core_numbers(const AccGraph& graph, std::uint32_t k, const AccOptions& options) {
  CoreNumbers program;
  if (k > 0) program.min_core = k - 1, program.max_level = k - 1;
  auto run = run_acc(graph, program, options);
  return {std::move(run.states), std::move(run.stats)};
}

}  // namespace sluice::acc

#include "engine/acc/programs/wcc.hpp"

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"

namespace sluice::acc {

ComponentResult components(const AccGraph& graph, const AccOptions& options) {
  auto run = run_acc(graph, Components{}, options);
  return {std::move(run.states), std::move(run.stats)};
}

}  // namespace sluice::acc

#include "engine/ppr/solver.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

QuerySolver::QuerySolver(const Device& device, const CsrView& graph, const PprOptions& options)
    : options_(options), diffusion_(device, graph, options) {}

QueryFigures QuerySolver::solve(const Seeds& seeds) {
  diffusion_.begin(seeds);
  if (options_.method == PprMethod::staged)
    diffuse_in_stages();
  else
    diffuse();
  Mass scored = 0;
  for (const Reached& entry : diffusion_.reached()) scored += entry.score;
  QueryFigures figures;
  figures.held = from_mass(diffusion_.settled_early());
  figures.error = figures.held + from_mass(kWholeMass - scored);
  figures.edges = diffusion_.edges();
  figures.reached = diffusion_.reached().size();
  figures.peak_bytes = diffusion_.peak_bytes();
  return figures;
}

/// GD(L), or for the limit the scores alone: what they miss is what is still under way, and every step
/// leaves at most alpha of it.
void QuerySolver::diffuse() {
  if (options_.length != 0) {
    for (std::uint32_t depth = 0; depth < options_.length; ++depth) diffusion_.step();
    return diffusion_.settle();
  }
  const Mass enough = to_mass(std::min(options_.tolerance, 1.0));
  while (diffusion_.under_way() > enough) diffusion_.step();
}

/// Stage and linear decomposition (MeLoPPR sections III and IV). A stage's residual alpha^l W^l s is a sum of
/// vertices, and diffusion is linear, so each of them may go on by itself, or settle where it is. They go on
/// together here: what their balls have in common is then diffused once, which costs less than one by one.
/// Mass that returns from vertices without out-edges is gathered per step and goes on from the seeds.
void QuerySolver::diffuse_in_stages() {
  bool first = true;
  for (const std::int64_t steps : options_.stages) {
    if (!first && options_.residual_threshold > 0) {
      diffusion_.settle_below(to_mass(options_.residual_threshold));
    } else if (!first) {
      const auto places = static_cast<double>(diffusion_.places());
      diffusion_.settle_all_but(static_cast<std::uint64_t>(std::ceil(options_.expand * places)));
    }
    for (std::int64_t step = 0; step < steps; ++step) diffusion_.step();
    first = false;
  }
  diffusion_.settle();
}

void QuerySolver::write_top(std::span<Vertex> vertices, std::span<double> scores) {
  auto& reached = diffusion_.reached();
  Reached* const end =
      std::partition(reached.begin(), reached.end(), [](const Reached& entry) { return entry.score != 0; });
  const auto found = std::min<std::size_t>(vertices.size(), static_cast<std::size_t>(end - reached.begin()));
  const auto before = [](const Reached& a, const Reached& b) {
    const double score_a = from_mass(a.score), score_b = from_mass(b.score);
    return score_a != score_b ? score_a > score_b : a.vertex < b.vertex;
  };
  Reached* const last = reached.begin() + found;
  if (last != end) std::nth_element(reached.begin(), last, end, before);
  std::sort(reached.begin(), last, before);
  for (std::size_t i = 0; i < found; ++i) {
    vertices[i] = reached[static_cast<std::uint32_t>(i)].vertex;
    scores[i] = from_mass(reached[static_cast<std::uint32_t>(i)].score);
  }
  std::fill(vertices.begin() + static_cast<std::ptrdiff_t>(found), vertices.end(), kNoVertex);
  std::fill(scores.begin() + static_cast<std::ptrdiff_t>(found), scores.end(), 0.0);
}

}  // namespace sluice

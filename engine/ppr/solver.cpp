#include "engine/ppr/solver.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

QuerySolver::QuerySolver(const Device& device, const CsrView& graph, const PprOptions& options)
    : options_(options), diffusion_(device, graph, options), walks_(graph, options) {}

QueryFigures QuerySolver::solve(const Seeds& seeds, Instance query) {
  QueryFigures figures;
  if (options_.method == PprMethod::walks) {
    diffusion_.clear();
    figures.edges = walks_.run(seeds, query, diffusion_.reached());
    figures.error = walk_error(options_.walks, options_.confidence);
  } else {
    diffusion_.begin(seeds);
    find_scores();
    Mass scored = 0;
    for (const Reached& entry : diffusion_.reached()) scored += entry.score;
    figures.held = from_mass(diffusion_.held());
    figures.error = figures.held + from_mass(kWholeMass - scored);
    figures.edges = diffusion_.edges();
  }
  figures.reached = diffusion_.reached().size();
  figures.peak_bytes = diffusion_.peak_bytes();
  return figures;
}

void QuerySolver::find_scores() {
  switch (options_.method) {
    case PprMethod::exact:
      return diffuse();
    case PprMethod::staged:
      return diffuse_in_stages();
    case PprMethod::push:
      return push();
    case PprMethod::walks:
      return;
  }
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

/// Forward push (Andersen, Chung and Lang, 2006), but in rounds, so that nothing depends on an order: mass
/// moves on from all vertices where much of it waits for each out-edge. What still waits at the end is what
/// scores miss. To reach a tolerance the bar is lowered by four whenever no vertex is above it.
void QuerySolver::push() {
  if (options_.residual_threshold > 0) {
    const Mass least = std::max<Mass>(to_mass(options_.residual_threshold), 1);
    while (diffusion_.push(least)) {
    }
    return;
  }
  const Mass enough = to_mass(std::min(options_.tolerance, 1.0));
  for (Mass least = kWholeMass / 1024; diffusion_.under_way() > enough; least /= 4) {
    while (diffusion_.under_way() > enough && diffusion_.push(least)) {
    }
  }
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

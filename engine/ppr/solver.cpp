#include "engine/ppr/solver.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

QuerySolver::QuerySolver(const Device& device, const CsrView& graph, const PprOptions& options)
    : options_(options),
      diffusion_(device, graph, options),
      next_stage_(device, options),
      walks_(graph, options) {
  if (goes_one_by_one(options)) one_by_one_.emplace(device, graph, options);
}

QueryFigures QuerySolver::solve(const Seeds& seeds, Instance query) {
  QueryFigures figures;
  if (options_.method == PprMethod::walks) {
    diffusion_.clear();
    figures.edges = walks_.run(seeds, query, diffusion_.reached());
    figures.error = walk_error(options_.walks, options_.confidence);
    figures.peak_bytes = diffusion_.peak_bytes();
  } else if (one_by_one_) {
    one_by_one_->run(seeds);
    figures.edges = one_by_one_->edges();
    figures.held = from_mass(one_by_one_->held());
    figures.peak_bytes = one_by_one_->peak_bytes();
  } else {
    next_stage_.clear();
    diffusion_.begin(seeds);
    diffuse_by_method();
    figures.edges = diffusion_.edges();
    figures.held = from_mass(next_stage_.held());
    figures.peak_bytes = diffusion_.peak_bytes() + next_stage_.peak_bytes();
  }
  figures.reached = scores().size();
  if (options_.method == PprMethod::walks) return figures;
  Mass scored = 0;
  for (const Reached& entry : scores()) scored += entry.score;
  figures.error = figures.held + from_mass(kWholeMass - scored);
  return figures;
}

void QuerySolver::diffuse_by_method() {
  if (options_.method == PprMethod::staged) return diffuse_in_stages();
  if (options_.method == PprMethod::push) return push();
  diffuse();
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
/// together here: what their balls have in common is then diffused once, which costs less than one by one
/// (one_by_one.hpp). Mass that returns from vertices without out-edges is gathered per step and goes on from
/// the seeds.
void QuerySolver::diffuse_in_stages() {
  bool first = true;
  for (const std::int64_t steps : options_.stages) {
    if (!std::exchange(first, false)) next_stage_.choose(diffusion_.reached(), diffusion_.now());
    for (std::int64_t step = 0; step < steps; ++step) diffusion_.step();
  }
  diffusion_.settle();
}

/// Forward push (Andersen, Chung and Lang, 2006), but in rounds, so that nothing depends on an order: mass
/// moves on from all vertices where much of it waits for each out-edge. Of what still waits at the end, 1 -
/// alpha stays where it is in any case; the rest is what scores miss. To reach a tolerance the bar is lowered
/// whenever no vertex is above it.
void QuerySolver::push() {
  if (options_.residual_threshold > 0) {
    const Mass least = std::max<Mass>(to_mass(options_.residual_threshold), 1);
    while (diffusion_.push(least)) {
    }
    return diffusion_.settle_share();
  }
  const Mass enough = to_mass(std::min(options_.tolerance, 1.0));
  for (Mass least = kFirstBar; diffusion_.under_way() > enough; least /= kBarStep) {
    while (diffusion_.under_way() > enough && diffusion_.push(least)) {
    }
  }
  diffusion_.settle_share();
}

void QuerySolver::write_top(std::span<Vertex> vertices, std::span<double> values) {
  auto& reached = scores();
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
    values[i] = from_mass(reached[static_cast<std::uint32_t>(i)].score);
  }
  std::fill(vertices.begin() + static_cast<std::ptrdiff_t>(found), vertices.end(), kNoVertex);
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(found), values.end(), 0.0);
}

}  // namespace sluice

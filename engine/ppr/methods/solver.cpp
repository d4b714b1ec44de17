#include "engine/ppr/methods/solver.hpp"

#include <algorithm>
#include <span>

namespace sluice::ppr {

QuerySolver::QuerySolver(const Device& device, const CsrView& graph, const Options& options)
    : options_(options),
      whole_{0, graph.vertices, {graph.targets, graph.weights}},
      diffusion_(device, graph, options),
      next_stage_(device, options),
      walks_(device, graph, options),
      enough_(to_mass(std::min(options.tolerance, 1.0))) {
  if (goes_one_by_one(options)) one_by_one_.emplace(device, graph, options);
}

QueryFigures QuerySolver::solve(const Seeds& seeds, Instance query) {
  begin(seeds, query);
  advance(whole());
  return figures();
}

void QuerySolver::begin(const Seeds& seeds, Instance query) {
  step_ = stage_ = 0;
  if (options_.method == Method::walks) {
    diffusion_.clear();
    walks_.begin(seeds, query);
  } else if (one_by_one_) {
    one_by_one_->begin(seeds);
  } else {
    next_stage_.clear();
    diffusion_.begin(seeds);
    least_ =
        options_.residual_threshold > 0 ? std::max<Mass>(to_mass(options_.residual_threshold), 1) : kFirstBar;
  }
}

bool QuerySolver::advance(const ListsAtHand& lists) {
  if (options_.method == Method::walks) return walks_.advance(lists, diffusion_.reached());
  if (one_by_one_) return one_by_one_->advance(lists);
  do {
    if (!diffusion_.spread(lists)) return false;
  } while (begin_step());
  return true;
}

QueryFigures QuerySolver::figures() {
  QueryFigures figures;
  figures.reached = scores().size();
  if (options_.method == Method::walks) {
    figures.edges = walks_.steps();
    figures.error = walk_error(options_.walks, options_.confidence);
    figures.peak_bytes = diffusion_.peak_bytes() + walks_.peak_bytes();
    return figures;
  }
  if (one_by_one_) {
    figures.edges = one_by_one_->edges();
    figures.held = from_mass(one_by_one_->held());
    figures.peak_bytes = one_by_one_->peak_bytes();
  } else {
    figures.edges = diffusion_.edges();
    figures.held = from_mass(next_stage_.held());
    figures.peak_bytes = diffusion_.peak_bytes() + next_stage_.peak_bytes();
  }
  Mass scored = 0;
  for (const Reached& entry : scores()) scored += entry.score;
  figures.error = figures.held + from_mass(kWholeMass - scored);
  return figures;
}

/// False where there is none left, and scores are there.
bool QuerySolver::begin_step() {
  if (options_.method == Method::staged) return diffuse_in_stages();
  if (options_.method == Method::push) return push();
  return diffuse();
}

bool QuerySolver::advance_to(std::uint64_t edges, const ListsAtHand& lists) {
  for (std::uint64_t along = 0;;) {
    if (is_diffused()) return true;
    if (along >= edges) return false;
    const std::uint64_t before = diffusion_.edges();
    diffuse();
    diffusion_.spread(lists);
    along = diffusion_.edges() - before;
  }
}

/// GD(L), or for the limit the scores alone: what they miss is what is still under way, and every step
/// leaves at most alpha of it.
bool QuerySolver::diffuse() {
  if (is_diffused()) return false;
  ++step_;
  diffusion_.begin_step();
  return true;
}

bool QuerySolver::is_diffused() {
  if (options_.length == 0) return diffusion_.under_way() <= enough_;
  if (step_ != options_.length) return false;
  diffusion_.settle();
  return true;
}

/// Stage and linear decomposition (MeLoPPR sections III and IV). A stage's residual alpha^l W^l s is a sum of
/// vertices, and diffusion is linear, so each of them may go on by itself, or settle where it is. They go on
/// together here: what their balls have in common is then diffused once, which costs less than one by one
/// (one_by_one.hpp). Mass that returns from vertices without out-edges is gathered per step and goes on from
/// the seeds.
bool QuerySolver::diffuse_in_stages() {
  while (step_ == static_cast<std::uint64_t>(options_.stages[stage_])) {
    if (++stage_ == options_.stages.size()) {
      diffusion_.settle();
      return false;
    }
    next_stage_.choose(diffusion_.reached(), diffusion_.now());
    step_ = 0;
  }
  ++step_;
  diffusion_.begin_step();
  return true;
}

/// Forward push (Andersen, Chung and Lang, 2006), but in rounds, so that nothing depends on an order: mass
/// moves on from all vertices where much of it waits for each out-edge. Of what still waits at the end, 1 -
/// alpha stays where it is in any case; the rest is what scores miss. To reach a tolerance the bar is lowered
/// whenever no vertex is above it.
bool QuerySolver::push() {
  const bool to_tolerance = options_.residual_threshold == 0, none_above = step_ > 0 && !diffusion_.pushed();
  if (to_tolerance ? diffusion_.under_way() <= enough_ : none_above) {
    diffusion_.settle_share();
    return false;
  }
  if (none_above) least_ /= kBarStep;
  ++step_;
  diffusion_.begin_step(least_);
  return true;
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

}  // namespace sluice::ppr

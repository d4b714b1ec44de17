#include "engine/ppr/methods/solver.hpp"

#include <algorithm>

#include "engine/ppr/methods/top_list.hpp"

namespace sluice::ppr {

namespace {

QueryRules rules_on_host(const CsrView& graph, const Options& options,
                         const std::vector<std::uint32_t>& stages) {
  QueryRules rules = rules_of(options);
  rules.graph = graph;
  rules.stages = stages.data();
  return rules;
}

}  // namespace

template <class M>
StoredSolver<M>::StoredSolver(const Device& device, const CsrView& graph, const Options& options,
                              unsigned balls, unsigned threads)
    : device_(device),
      options_(options),
      whole_{0, graph.vertices, {graph.targets, graph.weights}},
      stages_(stages_of(options)),
      rules_(rules_on_host(graph, options, stages_)),
      workspace_(device, graph.vertices) {
  if (!goes_one_by_one(options)) return;
  table_.emplace(device, graph.vertices);
  workspace_.add_second(*table_, *std::ranges::max_element(stages_));
  if (balls > 1) workspace_.team = &team_.emplace(device, workspace_, rules_, balls, threads);
}

template <class M>
void StoredSolver<M>::begin(const Seeds& seeds, Instance query) {
  if (team_) team_->begin();
  workspace_.begin();
  if (table_) {
    table_->begin();
    one_by_one_.emplace(SingleLane{}, shared_, workspace_, rules_, seeds.view(), query);
  } else {
    together_.emplace(SingleLane{}, shared_.ball, workspace_, rules_, seeds.view(), query);
  }
  with_query([](auto& begun) { begun.begin(); });
}

template <class M>
bool StoredSolver<M>::advance(const ListsAtHand& lists) {
  workspace_.lists = &lists;
  try {
    return with_query([](auto& query) {
      query.advance();
      return !query.stopped();
    });
  } catch (...) {
    if (team_) team_->rest();  // the lists end with the call
    throw;
  }
}

template <class M>
bool StoredSolver<M>::advance_to(std::uint64_t edges, const ListsAtHand& lists) {
  workspace_.lists = &lists;
  return together_->advance_to(edges);
}

template <class M>
QueryFigures StoredSolver<M>::figures() {
  QueryFigures figures = figures_of(with_query([](auto& query) { return query.figures(); }), options_);
  figures.peak_bytes = workspace_.peak_bytes() + (table_ ? table_->peak_bytes() : 0);
  if (team_) figures.peak_bytes += team_->peak_bytes();
  return figures;
}

template <class M>
void StoredSolver<M>::write_top(std::span<Vertex> vertices, std::span<double> values) {
  const std::uint64_t entries = TopList::entries(scores().size(), options_.top);
  list_.reserve(device_, entries, "the list of a query");
  TopList list({list_.data(), entries}, options_.top, shared_.ball.units);
  for (const Reached<M>& entry : scores()) list.add(entry.vertex, entry.score);
  list.write(vertices, values);
}

QuerySolver::QuerySolver(const Device& device, const CsrView& graph, const Options& options, unsigned balls,
                         unsigned threads)
    : solver_(with_stored_mass(options, [&](auto mass) {
        return Solver(std::in_place_type<StoredSolver<decltype(mass)>>, device, graph, options, balls,
                      threads);
      })) {}

template class StoredSolver<Mass>;
template class StoredSolver<CoarseMass>;

}  // namespace sluice::ppr

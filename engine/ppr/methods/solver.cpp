#include "engine/ppr/methods/solver.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "engine/ppr/methods/group_query.hpp"
#include "engine/ppr/methods/host_team.hpp"
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

/// A solver that stores masses as M.
template <class M>
class StoredSolver final : public QuerySolver {
 public:
  StoredSolver(const Device& device, const CsrView& graph, const Options& options, unsigned balls,
               unsigned threads)
      : device_(device),
        options_(options),
        whole_{0, graph.vertices, {graph.targets, graph.weights}},
        stages_(stages_of(options)),
        rules_(rules_on_host(graph, options, stages_)),
        workspace_(device, graph.vertices) {
    if (!is_one_by_one(options)) return;
    table_.emplace(device, graph.vertices);
    workspace_.add_second(*table_, *std::ranges::max_element(stages_));
    if (balls > 1) workspace_.team = &team_.emplace(device, workspace_, rules_, balls, threads);
  }

  using QuerySolver::begin;
  void begin(const Seeds& seeds, Instance query) override {
    if (team_) team_->begin();
    workspace_.begin();
    if (table_) {
      table_->begin();
      one_by_one_.emplace(SingleLane{}, shared_, workspace_, rules_, seeds.view(), query);
    } else {
      joint_.emplace(SingleLane{}, shared_.ball, workspace_, rules_, seeds.view(), query);
    }
    with_query([](auto& current) { current.begin(); });
  }

  bool advance(const AvailableLists& lists) override {
    workspace_.lists = &lists;
    try {
      return with_query([](auto& query) {
        query.advance();
        return !query.stopped();
      });
    } catch (...) {
      if (team_) team_->pause();  // the lists end with this call
      throw;
    }
  }
  void use_threads(unsigned threads) override {
    if (team_) team_->use_threads(threads);
  }
  bool advance_to(std::uint64_t edges, const AvailableLists& lists) override {
    workspace_.lists = &lists;
    return joint_->advance_to(edges);
  }
  void count_ends(std::span<const Vertex> ends, std::uint64_t steps) override {
    joint_->count_ends(ends, steps);
  }
  Progress progress() const override { return {joint_->steps(), joint_->edges(), workspace_.peak_bytes()}; }
  void for_each_missing(FunctionRef<void(Vertex)> use) const override {
    workspace_.for_each_missing(use);
    if (team_) team_->for_each_missing(use);
  }

  QueryFigures figures() override {
    QueryFigures figures = figures_of(with_query([](auto& query) { return query.figures(); }), options_);
    figures.peak_bytes = workspace_.peak_bytes() + (table_ ? table_->peak_bytes() : 0);
    if (team_) figures.peak_bytes += team_->peak_bytes();
    return figures;
  }
  AvailableLists all_lists() const override { return AvailableLists(std::span(&whole_, 1)); }
  void write_top(std::span<Vertex> vertices, std::span<double> values) override {
    const std::uint64_t entries = TopList::entries(reached().size(), options_.top);
    list_.reserve(device_, entries, "the list of a query");
    TopList list({list_.data(), entries}, options_.top, shared_.ball.units);
    for (const Reached<M>& entry : reached()) list.add(entry.vertex, entry.score);
    list.write(vertices, values);
  }
  void for_each_reached(FunctionRef<void(Vertex, Mass, Mass)> use) const override {
    for (const Reached<M>& entry : reached()) use(entry.vertex, entry.score, entry.residual);
  }

 private:
  using JointQuery = GroupQuery<SingleLane, HostWorkspace<M>>;
  using OneByOne = GroupOneByOne<SingleLane, HostWorkspace<M>>;

  template <class Use>
  auto with_query(Use&& use) {
    return one_by_one_ ? use(*one_by_one_) : use(*joint_);
  }
  /// All vertices with scores.
  const ReachedVertices<M>& reached() const { return table_ ? table_->reached : workspace_.reached; }

  const Device& device_;
  const Options& options_;
  ListRange whole_;
  std::vector<std::uint32_t> stages_;
  QueryRules rules_;
  std::optional<HostWorkspaceMemory<M>> table_;  ///< one_by_one
  HostWorkspaceMemory<M> workspace_;
  std::optional<HostTeam<M>> team_;
  Buffer<RankedVertex> list_;
  // State of the current query.
  typename OneByOne::Shared shared_;
  std::optional<JointQuery> joint_;
  std::optional<OneByOne> one_by_one_;
};

}  // namespace

std::unique_ptr<QuerySolver> QuerySolver::make(const Device& device, const CsrView& graph,
                                               const Options& options, unsigned balls, unsigned threads) {
  return with_stored_mass(options, [&](auto mass) -> std::unique_ptr<QuerySolver> {
    return std::make_unique<StoredSolver<decltype(mass)>>(device, graph, options, balls, threads);
  });
}

}  // namespace sluice::ppr

// Queries by a group of threads, compared with queries by one thread. A group of several threads stands for a
// block of a GPU.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "engine/exec/group.hpp"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "engine/ppr/methods/group_query.hpp"
#include "exec/thread_group.hpp"
#include "ppr/oracle.hpp"

namespace sluice::test {

inline constexpr Instance kQuery = 11;

struct Listed {
  ppr::GroupFigures figures;
  std::vector<Vertex> vertices;
  std::vector<double> scores;
};

/// A workspace's memory before and after a group uses it.
template <class M>
class SpaceOf {
 public:
  explicit SpaceOf(ppr::WorkspaceShape shape) {
    shape.entry_bytes = sizeof(Entry);
    bytes_ = shape.bytes();
    memory_.resize(bytes_ / sizeof(Entry));
    view_ = shape.view(reinterpret_cast<unsigned char*>(memory_.data()));
  }
  /// Adds `bytes` of fast memory for a sub-graph.
  void give_fast(std::uint64_t bytes) {
    fast_.resize(bytes / sizeof(std::uint64_t));
    view_.fast = reinterpret_cast<unsigned char*>(fast_.data());
    view_.fast_bytes = fast_.size() * sizeof(std::uint64_t);
  }
  /// True if the fast memory was written.
  bool used_fast() const {
    return std::any_of(fast_.begin(), fast_.end(), [](std::uint64_t word) { return word != 0; });
  }
  std::uint64_t bytes() const { return bytes_; }
  const ppr::WorkspaceView& view() const { return view_; }
  bool is_clear() const {
    return is_clear(view_) && (view_.second == 0 || is_clear(ppr::WorkspaceShape::second_of<M>(view_)));
  }

 private:
  using Entry = ppr::WorkspaceEntry<M>;

  static bool is_clear(const ppr::WorkspaceView& workspace) {
    const Entry* const entries = workspace.entries_of<M>();
    return std::all_of(entries, entries + workspace.slots, [](const Entry& entry) {
      return entry.vertex == kNoVertex && entry.score == 0 && entry.residual == 0;
    });
  }

  std::uint64_t bytes_ = 0;
  std::vector<Entry> memory_;
  std::vector<std::uint64_t> fast_;
  ppr::WorkspaceView view_;
};
using Space = SpaceOf<ppr::Mass>;
using CoarseSpace = SpaceOf<ppr::CoarseMass>;

template <class Query, class Group, class M>
inline void answer(const Group& group, typename Query::Shared& shared, const SpaceOf<M>& space,
                   const ppr::QueryRules& rules, const ppr::Seeds& seeds, Listed& listed) {
  Query query(group, shared, space.view(), rules, seeds.view(), kQuery);
  const ppr::GroupFigures figures = query.solve();
  if (figures.abandoned == 0) query.write_top(listed.vertices.data(), listed.scores.data());
  query.clear();
  if (group.rank() == 0) listed.figures = figures;
}

/// Extracts: balls may use sub-graphs.
template <template <class, class> class Query = ppr::GroupQuery, bool Extracts = false, class M>
Listed answer_alone(const SpaceOf<M>& space, const ppr::QueryRules& rules, const ppr::Seeds& seeds) {
  using Alone = Query<SingleLane, ppr::GroupWorkspace<SingleLane, M, Extracts>>;
  Listed listed{{}, std::vector<Vertex>(rules.top), std::vector<double>(rules.top)};
  const auto shared = std::make_unique<typename Alone::Shared>();
  answer<Alone>(SingleLane{}, *shared, space, rules, seeds, listed);
  return listed;
}

template <template <class, class> class Query = ppr::GroupQuery, bool Extracts = false, class M>
Listed answer_together(const SpaceOf<M>& space, const ppr::QueryRules& rules, const ppr::Seeds& seeds) {
  using Together = Query<ThreadGroup, ppr::GroupWorkspace<ThreadGroup, M, Extracts>>;
  Listed listed{{}, std::vector<Vertex>(rules.top), std::vector<double>(rules.top)};
  ThreadGroup::Workspace workspace;
  const auto shared = std::make_unique<typename Together::Shared>();
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < ThreadGroup::kSize; ++rank) {
    threads.emplace_back(
        [&, rank] { answer<Together>(ThreadGroup(workspace, rank), *shared, space, rules, seeds, listed); });
  }
  threads.clear();
  return listed;
}

/// The result of one thread.
struct Expected {
  Expected(const Graph& graph, const ppr::Options& given, const ppr::Seeds& seeds)
      : options(given), vertices(options.top), scores(options.top) {
    const Device device({DeviceChoice::host, 1, 0});
    const auto solver = ppr::QuerySolver::make(device, graph.out.view(), options);
    figures = solve_with(*solver, seeds, kQuery);
    solver->write_top(vertices, scores);
  }
  ppr::Options options;
  ppr::QueryFigures figures;
  std::vector<Vertex> vertices;
  std::vector<double> scores;
};

inline void expect_same(const Listed& listed, const Expected& expected) {
  ASSERT_EQ(listed.figures.abandoned, 0u);
  EXPECT_EQ(listed.vertices, expected.vertices);
  EXPECT_EQ(listed.scores, expected.scores);
  const ppr::QueryFigures figures = figures_of(listed.figures, expected.options);
  EXPECT_EQ(figures.error, expected.figures.error);
  EXPECT_EQ(figures.held, expected.figures.held);
  EXPECT_EQ(figures.edges, expected.figures.edges);
  EXPECT_EQ(figures.reached, expected.figures.reached);
}

inline ppr::Seeds seeds_of(const Graph& graph, const WeightedSeeds& of_query) {
  ppr::Seeds seeds;
  seeds.assign(starts_of({of_query}), graph.vertices(), 1, 0);
  return seeds;
}

/// The rules of a query on a graph in host memory.
class HostRules {
 public:
  explicit HostRules(const Graph& graph) : graph_(graph) {
    if (graph.weighted) totals_ = ppr::weight_totals(graph.out.view(), 1);
  }
  ppr::QueryRules of(const ppr::Options& options) {
    stages_ = stages_of(options);
    ppr::QueryRules rules = rules_of(options);
    rules.graph = graph_.out.view();
    rules.totals = options.weighted ? totals_.data() : nullptr;
    rules.stages = stages_.data();
    return rules;
  }

 private:
  const Graph& graph_;
  HostArray<double> totals_;
  std::vector<std::uint32_t> stages_;
};

/// Methods with few rounds, since rounds have barriers and these threads may share a core.
inline std::vector<ppr::Options> short_methods() {
  std::vector<ppr::Options> all = group_methods();
  for (ppr::Options& options : all) {
    options.tolerance = 0.2;
    options.residual_threshold = options.residual_threshold > 0 ? 1e-3 : 0;
    options.weighted = true;
  }
  return all;
}

}  // namespace sluice::test

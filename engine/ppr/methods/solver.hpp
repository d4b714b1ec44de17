// Finds the scores of one query after another, on one thread of the host: a group of one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "engine/ppr/methods/group_query.hpp"
#include "engine/ppr/methods/host_team.hpp"

namespace sluice::ppr {

/// A query between two rounds.
struct PausedQuery {
  const ReachedVertices& reached;
  std::uint64_t steps, edges;  ///< so far
  std::uint64_t bytes;         ///< memory, at most
};

class QuerySolver {
 public:
  /// Keeps references to all of them. One by one, `threads` diffuse `balls` of a query at once; where lists
  /// are missed, one does.
  QuerySolver(const Device& device, const CsrView& graph, const Options& options, unsigned balls = 1,
              unsigned threads = 1);

  /// Begins a query; what it has of another one goes.
  void begin(const Seeds& seeds, Instance query);
  /// Goes on as far as lists are at hand. False if others are missing; true once there are scores.
  bool advance(const ListsAtHand& lists);
  /// The same of an exact query, but false after a step along so many edges, if it goes on.
  bool advance_to(std::uint64_t edges, const ListsAtHand& lists);
  PausedQuery paused() const {
    return {workspace_.reached, together_->steps(), together_->edges(), workspace_.peak_bytes()};
  }
  /// Calls use(vertex) for all whose lists are waited for, perhaps several times.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (std::uint32_t i = 0; i < workspace_.missing; ++i) {
      const Reached& entry = workspace_.reached[workspace_.numbers()[i]];
      if (entry.moving != 0) use(entry.vertex);
    }
    if (options_.method != Method::walks) return;
    for (std::uint32_t i = 0; i < shared_.ball.counts.lacking; ++i) use(workspace_.walks()[i].at.vertex);
  }
  /// Of a query that has ended.
  QueryFigures figures();

  /// The graph's lists, where all are at hand.
  ListsAtHand whole() const { return ListsAtHand(std::span(&whole_, 1)); }
  /// The list, as TopList. Throws BudgetError.
  void write_top(std::span<Vertex> vertices, std::span<double> values);
  /// Of all vertices, not of the list alone.
  const ReachedVertices& scores() const { return table_ ? table_->reached : workspace_.reached; }

 private:
  using Together = GroupQuery<SingleLane, HostWorkspace>;
  using OneByOne = GroupOneByOne<SingleLane, HostWorkspace>;

  template <class Use>
  auto with_query(Use&& use) {
    return one_by_one_ ? use(*one_by_one_) : use(*together_);
  }

  const Device& device_;
  const Options& options_;
  ListRange whole_;
  std::vector<std::uint32_t> stages_;
  QueryRules rules_;
  std::optional<HostWorkspaceMemory> table_;  ///< one by one
  HostWorkspaceMemory workspace_;
  std::optional<HostTeam> team_;
  Buffer<RankedVertex> list_;
  // Of the query under way.
  OneByOne::Shared shared_;
  std::optional<Together> together_;
  std::optional<OneByOne> one_by_one_;
};

}  // namespace sluice::ppr

// Finds the scores of one query after another, on one thread of the host: a group of one.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "engine/ppr/methods/group_query.hpp"
#include "engine/ppr/methods/host_team.hpp"

namespace sluice::ppr {

/// A query between two rounds.
struct PausedQuery {
  const ReachedVertices<Mass>& reached;
  std::uint64_t steps, edges;  ///< so far
  std::uint64_t bytes;         ///< memory, at most
};

/// QuerySolver, which has the comments, with masses stored as M.
template <class M>
class StoredSolver {
 public:
  StoredSolver(const Device& device, const CsrView& graph, const Options& options, unsigned balls,
               unsigned threads);

  void begin(const Seeds& seeds, Instance query);
  bool advance(const ListsAtHand& lists);
  bool advance_to(std::uint64_t edges, const ListsAtHand& lists);
  void take_ends(std::span<const Vertex> ends, std::uint64_t steps) { together_->take_ends(ends, steps); }
  PausedQuery paused() const requires std::same_as<M, Mass> {
    return {workspace_.reached, together_->steps(), together_->edges(), workspace_.peak_bytes()};
  }
  template <class Use>
  void for_each_missing(Use&& use) const {
    workspace_.for_each_missing(use);
    if (team_) team_->for_each_missing(use);
  }
  void use_threads(unsigned threads) {
    if (team_) team_->use_threads(threads);
  }
  QueryFigures figures();
  ListsAtHand whole() const { return ListsAtHand(std::span(&whole_, 1)); }
  void write_top(std::span<Vertex> vertices, std::span<double> values);
  const ReachedVertices<M>& scores() const { return table_ ? table_->reached : workspace_.reached; }

 private:
  using Together = GroupQuery<SingleLane, HostWorkspace<M>>;
  using OneByOne = GroupOneByOne<SingleLane, HostWorkspace<M>>;

  template <class Use>
  auto with_query(Use&& use) {
    return one_by_one_ ? use(*one_by_one_) : use(*together_);
  }

  const Device& device_;
  const Options& options_;
  ListRange whole_;
  std::vector<std::uint32_t> stages_;
  QueryRules rules_;
  std::optional<HostWorkspaceMemory<M>> table_;  ///< one by one
  HostWorkspaceMemory<M> workspace_;
  std::optional<HostTeam<M>> team_;
  Buffer<RankedVertex> list_;
  // Of the query under way.
  typename OneByOne::Shared shared_;
  std::optional<Together> together_;
  std::optional<OneByOne> one_by_one_;
};

/// Stores masses in 64 bits, or in 32 where a query has so few units.
class QuerySolver {
 public:
  /// Keeps references to all of them. One by one, `threads` diffuse `balls` of a query at once.
  QuerySolver(const Device& device, const CsrView& graph, const Options& options, unsigned balls = 1,
              unsigned threads = 1);

  /// Begins a query; what it has of another one goes.
  void begin(const Seeds& seeds, Instance query) {
    std::visit([&](auto& solver) { solver.begin(seeds, query); }, solver_);
  }
  /// Goes on as far as lists are at hand. False if others are missing; true once there are scores.
  bool advance(const ListsAtHand& lists) {
    return std::visit([&](auto& solver) { return solver.advance(lists); }, solver_);
  }
  /// So many threads diffuse balls from now on.
  void use_threads(unsigned threads) {
    std::visit([&](auto& solver) { solver.use_threads(threads); }, solver_);
  }
  /// As advance(), of an exact query, but false after a step along so many edges, if it goes on.
  bool advance_to(std::uint64_t edges, const ListsAtHand& lists) {
    return std::visit([&](auto& solver) { return solver.advance_to(edges, lists); }, solver_);
  }
  /// Ends a query of walks that were made elsewhere: the vertices where they ended, and their steps in all.
  void take_ends(std::span<const Vertex> ends, std::uint64_t steps) {
    std::visit([&](auto& solver) { solver.take_ends(ends, steps); }, solver_);
  }
  /// Of masses of 64 bits.
  PausedQuery paused() const { return std::get<StoredSolver<Mass>>(solver_).paused(); }
  /// Calls use(vertex) for all whose lists are waited for, perhaps several times.
  template <class Use>
  void for_each_missing(Use&& use) const {
    std::visit([&](const auto& solver) { solver.for_each_missing(use); }, solver_);
  }
  /// Of a query that has ended.
  QueryFigures figures() {
    return std::visit([](auto& solver) { return solver.figures(); }, solver_);
  }

  /// The graph's lists, where all are at hand.
  ListsAtHand whole() const {
    return std::visit([](const auto& solver) { return solver.whole(); }, solver_);
  }
  /// The list, as TopList. Throws BudgetError.
  void write_top(std::span<Vertex> vertices, std::span<double> values) {
    std::visit([&](auto& solver) { solver.write_top(vertices, values); }, solver_);
  }
  /// Calls use(vertex, score) for all vertices, not for the list alone.
  template <class Use>
  void for_each_score(Use&& use) const {
    const auto each = [&](const auto& solver) {
      for (const auto& entry : solver.scores()) use(entry.vertex, entry.score);
    };
    std::visit(each, solver_);
  }

 private:
  using Solver = std::variant<StoredSolver<Mass>, StoredSolver<CoarseMass>>;

  Solver solver_;
};

}  // namespace sluice::ppr

// Finds the scores of one query after another, on one thread of the host: a group of one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/core/function_ref.hpp"
#include "engine/exec/device.hpp"
#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/reached.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

class QuerySolver {
 public:
  /// What an exact query has taken so far, between two rounds; `bytes` at most.
  struct Progress {
    std::uint64_t steps, edges, bytes;
  };

  /// Stores masses in 64 bits, or in 32 where a query has so few units. Keeps references to all of them. One
  /// by one, `threads` diffuse `balls` of a query at once.
  static std::unique_ptr<QuerySolver> make(const Device& device, const CsrView& graph, const Options& options,
                                           unsigned balls = 1, unsigned threads = 1);
  virtual ~QuerySolver() = default;

  /// Begins a query; what it has of another one goes. Keeps a reference to the seeds.
  virtual void begin(const Seeds& seeds, Instance query) = 0;
  /// The same of a query of these starts. Returns its first seed.
  Vertex begin(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance query) {
    seeds_.assign(starts, vertices, seed, query);
    begin(seeds_, query);
    return seeds_.all()[0].vertex;
  }
  /// Of the query that was begun last by its starts.
  const Seeds& seeds() const { return seeds_; }
  /// Goes on as far as lists are at hand. False if others are missing; true once there are scores.
  virtual bool advance(const ListsAtHand& lists) = 0;
  /// So many threads diffuse balls from now on.
  virtual void use_threads(unsigned threads) = 0;
  /// As advance(), of an exact query, but false after a step along so many edges, if it goes on.
  virtual bool advance_to(std::uint64_t edges, const ListsAtHand& lists) = 0;
  /// Ends a query of walks that were made elsewhere: the vertices where they ended, and their steps in all.
  virtual void take_ends(std::span<const Vertex> ends, std::uint64_t steps) = 0;
  virtual Progress progress() const = 0;
  /// Calls use(vertex) for all whose lists are waited for, perhaps several times.
  virtual void for_each_missing(FunctionRef<void(Vertex)> use) const = 0;
  /// Of a query that has ended.
  virtual QueryFigures figures() = 0;
  /// The graph's lists, where all are at hand.
  virtual ListsAtHand whole() const = 0;
  /// The list, as TopList. Throws BudgetError.
  virtual void write_top(std::span<Vertex> vertices, std::span<double> values) = 0;
  /// Calls use(vertex, score, mass that waits) for all vertices, not for the list alone.
  virtual void for_each_reached(FunctionRef<void(Vertex, Mass, Mass)> use) const = 0;

 private:
  Seeds seeds_;
};

}  // namespace sluice::ppr

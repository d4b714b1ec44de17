// Answers one query after another, on one thread of the host: a group of one.
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
  /// What an exact query has cost so far, between two rounds; `bytes` is the peak.
  struct Progress {
    std::uint64_t steps, edges, bytes;
  };

  /// Stores masses in 64 bits, or in 32 if the query has few units. Keeps references to all of them. With
  /// one_by_one, `threads` threads diffuse `balls` balls of a query in parallel.
  static std::unique_ptr<QuerySolver> make(const Device& device, const CsrView& graph, const Options& options,
                                           unsigned balls = 1, unsigned threads = 1);
  virtual ~QuerySolver() = default;

  /// Begins a query and forgets the previous one. Keeps a reference to the seeds.
  virtual void begin(const Seeds& seeds, Instance query) = 0;
  /// Begins a query of these starts. Returns its first seed.
  Vertex begin(const Starts& starts, std::uint64_t vertices, std::uint64_t seed, Instance query) {
    seeds_.assign(starts, vertices, seed, query);
    begin(seeds_, query);
    return seeds_.all()[0].vertex;
  }
  /// The seeds of the query that was last begun by its starts.
  const Seeds& seeds() const { return seeds_; }
  /// Continues as far as lists allow. False if lists are missing; true once there are scores.
  virtual bool advance(const AvailableLists& lists) = 0;
  /// From now on this many threads diffuse balls.
  virtual void use_threads(unsigned threads) = 0;
  /// As advance() of an exact query; false after a step along at least `edges` edges, if the query goes on.
  virtual bool advance_to(std::uint64_t edges, const AvailableLists& lists) = 0;
  /// Ends a query whose walks were made elsewhere: the vertices where they ended, and their steps in total.
  virtual void count_ends(std::span<const Vertex> ends, std::uint64_t steps) = 0;
  virtual Progress progress() const = 0;
  /// Calls use(vertex) for each missing list, perhaps several times.
  virtual void for_each_missing(FunctionRef<void(Vertex)> use) const = 0;
  /// Figures of a query that has ended.
  virtual QueryFigures figures() = 0;
  /// All lists of the graph, if they are available.
  virtual AvailableLists all_lists() const = 0;
  /// Writes the result list, as TopList. Throws BudgetError.
  virtual void write_top(std::span<Vertex> vertices, std::span<double> values) = 0;
  /// Calls use(vertex, score, residual) for all reached vertices, not only for the result list.
  virtual void for_each_reached(FunctionRef<void(Vertex, Mass, Mass)> use) const = 0;

 private:
  Seeds seeds_;
};

}  // namespace sluice::ppr

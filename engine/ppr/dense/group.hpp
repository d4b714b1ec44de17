// Queries in dense rows on the host, by one thread. They begin in tables (diffusion.hpp), move to a column
// each once that is cheaper (query_route.hpp), and end together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/ppr/dense/pass.hpp"
#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/methods/solver.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

class DenseGroup {
 public:
  /// Keeps references to graph and options. Throws BudgetError.
  DenseGroup(const Device& device, const DenseGraph& graph, const Options& options, std::uint32_t width);

  std::uint32_t columns() const { return static_cast<std::uint32_t>(columns_.size()); }
  bool is_full() const { return columns() == shape_.width; }
  /// Forgets all queries.
  void clear() { columns_.clear(); }
  /// Takes over an exact query that goes on, between two of its rounds. If it throws BudgetError, nothing has
  /// changed.
  void add(const QuerySolver& query);
  /// Runs until all queries have scores.
  void run();

  /// The figures and the result list of a query, as QuerySolver has them.
  QueryFigures figures(std::uint32_t column) const;
  void write_top(std::uint32_t column, std::span<Vertex> vertices, std::span<double> values);

 private:
  struct Column {
    Seeds seeds;
    std::uint64_t steps = 0;  ///< that have begun
    std::uint64_t edges = 0, bytes = 0;
    bool active = true;  ///< residual is left
  };

  void continue_column(std::uint32_t column);
  bool begin_pass(std::uint32_t pass);
  DenseRow return_mass(const DenseRow& returned);
  bool must_continue(std::uint32_t pass, std::uint32_t column, const HostPassState& before,
                     Mass arriving) const;

  const Options& options_;
  Continuation continuation_;
  Mass tolerance_mass_;
  DenseShape shape_;
  Buffer<Mass> masses_;
  Buffer<std::uint32_t> words_;
  Buffer<RankedVertex> list_;
  DenseGroupView view_;
  std::unique_ptr<DensePasses> passes_;
  std::vector<Column> columns_;
  ChargedVector<ColumnSeed> seeds_;  ///< of all columns, by vertex; those to which mass may return
  HostPassState pass_state_;
};

}  // namespace sluice::ppr

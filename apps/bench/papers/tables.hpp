// Figures of the papers' experiments, table by table.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/figures.hpp"
#include "io/generate/generate.hpp"

namespace sluice::bench::papers {

/// Names figures `TABLE: ROW`, as the page looks for them.
class Tables {
 public:
  Tables(const Device& device, const Options& options) : device_(device), options_(options) {}

  const Options& options() const { return options_; }

  /// Rows from here on are of this table. False: it is not wanted.
  bool begin(std::string name);
  /// What the table is measured on, its first row.
  void on(const std::string& kind, const Graph& graph) { on(kind, graph.vertices(), graph.edges()); }
  void on(const std::string& kind, std::uint64_t vertices, std::uint64_t edges);
  /// Calls use(name, graph) for the files of --graphs, those whose edges have times or the others, if the
  /// table is wanted.
  void on_graphs(const std::string& table, bool timed,
                 const std::function<void(const std::string&, Graph)>& use);
  /// Says that a row is being measured.
  void measuring(const std::string& row) const;

  /// A row: the median of the values.
  void put(const std::string& row, const std::vector<double>& values, const char* unit, Columns columns = {});
  /// A row of a graph: the first of `cells` is its figure, the others are columns; then, how large it is.
  void put_cells(const std::string& row, const char* unit,
                 std::vector<std::pair<std::string, std::vector<double>>> cells, const Graph& graph);
  /// A row beside an earlier one of median `first`, which is this row's where it is 0; `beside` names how
  /// many times as fast it is.
  void put_beside(double& first, const std::string& row, const std::vector<double>& milliseconds,
                  Columns columns, const char* beside);
  void put_words(const std::string& row, std::string words);
  /// Can this row be measured, which chooses among a GPU's kernels? If not, it says so.
  bool on_gpu(const std::string& row);

  /// Of the device's size, or of --scale; or the file that was asked for.
  Graph graph(unsigned host_scale, unsigned gpu_scale, io::GraphKind kind = io::GraphKind::kronecker,
              unsigned edge_factor = 0) const;

  std::vector<Figure> take() { return std::move(figures_); }

 private:
  const Device& device_;
  const Options& options_;
  std::string name_;
  std::vector<Figure> figures_;
};

/// `batch 1e-06`
std::string batch_name(double fraction);

void run_dynamic_rank(Tables& tables, Device& device);
void run_csaw(Tables& tables, Device& device);
void run_meloppr(Tables& tables, Device& device);
void run_simdx(Tables& tables, Device& device);
/// All ranks call it; one alone only says that it needs others.
void run_simdx_on_ranks(Tables& tables, Device& device);

}  // namespace sluice::bench::papers

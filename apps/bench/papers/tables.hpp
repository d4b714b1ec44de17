// Figures of the papers' experiments, by table.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/figures.hpp"
#include "io/generate/generate.hpp"

namespace sluice::bench::papers {

/// Names figures `TABLE: ROW`, as the page expects.
class Tables {
 public:
  Tables(const Device& device, const Options& options) : device_(device), options_(options) {}

  const Options& options() const { return options_; }

  /// Begins a table: later rows belong to it. Returns false if it is not wanted.
  bool begin(std::string name);
  /// Adds the first row: the graph of the table.
  void set_graph(const std::string& kind, const Graph& graph) {
    set_graph(kind, graph.vertices(), graph.edges());
  }
  void set_graph(const std::string& kind, std::uint64_t vertices, std::uint64_t edges);
  /// If the table is wanted, calls use(name, graph) for the files of --graphs: those with edge times if
  /// `timed`, else the others.
  void for_each_graph_file(const std::string& table, bool timed,
                           const std::function<void(const std::string&, Graph)>& use);
  /// Reports that a row is being measured.
  void report_progress(const std::string& row) const;

  /// Adds a row: the median of the values.
  void add_row(const std::string& row, const std::vector<double>& values, const char* unit,
               Columns columns = {});
  /// Adds a graph's row: the first of `cells` is its figure, the others are columns; then the graph's size.
  void add_row_of_cells(const std::string& row, const char* unit,
                        std::vector<std::pair<std::string, std::vector<double>>> cells, const Graph& graph);
  /// Adds a row with its speed-up over an earlier row of median `first`, in column `beside`. If `first` is 0,
  /// sets it to this row's median.
  void add_compared_row(double& first, const std::string& row, const std::vector<double>& milliseconds,
                        Columns columns, const char* ratio_column);
  void add_text(const std::string& row, std::string words);
  /// Can this row, which compares kernels of a GPU, be measured? If not, adds the reason.
  bool has_gpu(const std::string& row);

  /// A graph of the device's size or of --scale; or the graph file of the options.
  Graph graph(unsigned host_scale, unsigned gpu_scale, io::GraphKind kind = io::GraphKind::kronecker,
              unsigned edge_factor = 0) const;

  std::vector<Figure> release_figures() { return std::move(figures_); }

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
/// All ranks call it; a single rank only adds the reason why it has no figures.
void run_simdx_on_ranks(Tables& tables, Device& device);

}  // namespace sluice::bench::papers

#include "apps/bench/papers/tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "apps/bench/workload.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/ranks.hpp"

namespace sluice::bench {

namespace papers {

bool Tables::begin(std::string name) {
  name_ = std::move(name);
  return options_.wants(name_);
}

void Tables::set_graph(const std::string& kind, std::uint64_t vertices, std::uint64_t edges) {
  add_text("graph",
           fmt::format("{}, {} vertices, {} stored edges", options_.graph.empty() ? kind : options_.graph,
                       apps::format_count(vertices), apps::format_count(edges)));
}

void Tables::for_each_graph_file(const std::string& table, bool timed,
                                 const std::function<void(const std::string&, Graph)>& use) {
  if (!begin(table)) return;
  for (const std::string& file : options_.graphs) {
    const io::GraphInfo info = io::read_graph_info(file);
    if (info.timed == timed)
      use(std::filesystem::path(file).stem(), io::read_graph(file, {.in = info.has_in}));
  }
}

void Tables::report_progress(const std::string& row) const {
  if (options_.progress) options_.progress(name_ + ": " + row);
}

void Tables::add_row(const std::string& row, const std::vector<double>& values, const char* unit,
                     Columns columns) {
  figures_.push_back(figure_of(name_ + ": " + row, values, unit, {}, std::move(columns)));
}

void Tables::add_row_of_cells(const std::string& row, const char* unit,
                              std::vector<std::pair<std::string, std::vector<double>>> cells,
                              const Graph& graph) {
  Columns columns;
  for (std::size_t i = 1; i < cells.size(); ++i)
    columns.emplace_back(cells[i].first, median(std::move(cells[i].second)));
  columns.emplace_back("vertices", static_cast<double>(graph.vertices()));
  columns.emplace_back("stored edges", static_cast<double>(graph.edges()));
  add_row(row, std::move(cells.front().second), unit, std::move(columns));
}

void Tables::add_compared_row(double& first, const std::string& row, const std::vector<double>& milliseconds,
                              Columns columns, const char* ratio_column) {
  if (first == 0) first = median(milliseconds);
  columns.insert(columns.begin(), {ratio_column, first / median(milliseconds)});
  add_row(row, milliseconds, "ms", std::move(columns));
}

bool Tables::has_gpu(const std::string& row) {
  if (!device_.is_cuda()) add_text(row, "needs a GPU");
  return device_.is_cuda();
}

void Tables::add_text(const std::string& row, std::string words) {
  figures_.push_back({name_ + ": " + row, 0, "", 0, 0, {}, {}, std::move(words)});
}

Graph Tables::graph(unsigned host_scale, unsigned gpu_scale, io::GraphKind kind, unsigned edge_factor) const {
  Options sized = options_;
  if (sized.scale == 0) sized.scale = device_.is_cuda() ? gpu_scale : host_scale;
  if (edge_factor > 0) sized.edge_factor = edge_factor;
  return load_graph(device_, sized, kind);
}

std::string batch_name(double fraction) {
  return fmt::format("batch {:.0e}", fraction);
}

}  // namespace papers

std::vector<Figure> run_papers(Device& device, const Options& options) {
  papers::Tables tables(device, options);
  if (apps::world().size() == 1) {
    papers::run_dynamic_rank(tables, device);
    papers::run_csaw(tables, device);
    papers::run_meloppr(tables, device);
    papers::run_simdx(tables, device);
  }
  papers::run_simdx_on_ranks(tables, device);
  return tables.release_figures();
}

}  // namespace sluice::bench

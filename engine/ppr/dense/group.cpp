#include "engine/ppr/dense/group.hpp"

#include <algorithm>

#include "engine/ppr/methods/top_list.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kPurpose = "queries side by side";

/// The least mass that arrives when followed mass is rounded down along `edges` edges. A sum of weights in
/// double is off by less than a part in 2^20 for any list.
Mass min_arriving(Mass followed, std::uint64_t edges, bool weighted) {
  const Mass rounding = edges + (weighted ? followed >> 20 : 0);
  return followed - std::min(followed, rounding);
}

}  // namespace

DenseGroup::DenseGroup(const Device& device, const DenseGraph& graph, const Options& options,
                       std::uint32_t width)
    : options_(options),
      continuation_(Continuation::of(options.alpha)),
      tolerance_mass_(MassUnits{}.mass(std::min(options.tolerance, 1.0))),
      shape_{graph.out.vertices, width},
      masses_(device, shape_.masses(), kPurpose),
      words_(device, shape_.words(), kPurpose),
      list_(device, TopList::entries(shape_.vertices, options.top), kPurpose),
      view_(DenseGroupView::of(masses_.data(), words_.data(), shape_, 0)),
      passes_(make_dense_passes(graph, view_, width)) {}

void DenseGroup::add(const QuerySolver& query) {
  const Seeds& seeds = query.seeds();
  const std::uint32_t column = columns(), width = shape_.width;
  if (column == 0) {
    std::fill_n(words_.data(), shape_.words(), 0u);
    seeds_.clear();
  }
  if (options_.dangling == Dangling::seed) {
    seeds_.reserve(seeds_.size() + seeds.all().size());
    for (std::uint32_t number = 0; number < seeds.all().size(); ++number)
      seeds_.push_back({seeds.all()[number].vertex, 0, column, number});
  }
  // The bytes of a column in rows of full width: the figure does not depend on the number of queries.
  const std::uint64_t bytes = DenseShape{shape_.vertices, kHostDenseWidth}.query_bytes();
  const QuerySolver::Progress before = query.progress();
  columns_.push_back({seeds, before.steps, before.edges, before.bytes + bytes});
  query.for_each_reached([&](Vertex v, Mass score, Mass residual) {
    const std::uint64_t row = std::uint64_t{v} * width;
    std::uint32_t &reached = view_.reached()[v], &sending = view_.sending(0)[v];
    if (reached == 0) std::fill_n(view_.scores() + row, width, Mass{0});
    reached |= 1u << column;
    view_.scores()[row + column] = score;
    if (residual == 0) return;
    if (sending == 0) std::fill_n(view_.shares(0) + row, width, Mass{0});
    sending = 1;
    view_.shares(0)[row + column] = residual;
  });
}

void DenseGroup::run() {
  std::sort(seeds_.begin(), seeds_.end(),
            [](const ColumnSeed& a, const ColumnSeed& b) { return a.vertex < b.vertex; });
  pass_state_ = {};
  for (std::uint32_t column = 0; column < columns(); ++column) continue_column(column);
  passes_->begin(0, pass_state_);
  for (std::uint32_t pass = 1; begin_pass(pass); ++pass) passes_->run(pass, pass_state_, seeds_);
}

/// Mass that arrives at this column is split in this turn.
void DenseGroup::continue_column(std::uint32_t column) {
  ++columns_[column].steps;
  pass_state_.columns |= 1u << column;
  pass_state_.follow[column] = continuation_.follow;
  pass_state_.rounding[column] = continuation_.follow != 0;
  pass_state_.score_mask[column] = pass_state_.continue_mask[column] = ~Mass{0};
}

/// False if no column is active any more. The last turn of a column splits nothing: for GD(L) the arriving
/// mass is score; for the limit, scores miss it.
bool DenseGroup::begin_pass(std::uint32_t pass) {
  const HostPassState before = pass_state_;
  pass_state_ = {};
  const DenseRow arriving = return_mass(before.returned);
  for (std::uint32_t i = 0; i < columns(); ++i) {
    Column& column = columns_[i];
    if (!column.active) continue;
    column.edges += before.edges[i];
    const bool is_last_step = options_.length != 0 && column.steps == options_.length;
    if (!is_last_step && (options_.length != 0 || must_continue(pass, i, before, arriving[i]))) {
      continue_column(i);
      continue;
    }
    column.active = false;
    pass_state_.columns |= 1u << i;
    if (is_last_step) pass_state_.score_mask[i] = ~Mass{0};
  }
  return pass_state_.columns != 0;
}

/// The part of returning mass that arrives, per column.
DenseRow DenseGroup::return_mass(const DenseRow& returned) {
  DenseRow arriving{};
  for (std::uint32_t i = 0; i < columns(); ++i) {
    if (returned[i] == 0) continue;
    if (options_.dangling == Dangling::seed) {
      pass_state_.to_seeds = true;
      continue;
    }
    pass_state_.per_vertex[i] = returned[i] / shape_.vertices;
    pass_state_.to_all_vertices = true;
    arriving[i] = pass_state_.per_vertex[i] * shape_.vertices;
  }
  if (!pass_state_.to_seeds) return arriving;
  for (ColumnSeed& seed : seeds_) {
    seed.mass = columns_[seed.column].seeds.view().share(seed.number, returned[seed.column]);
    arriving[seed.column] += seed.mass;
  }
  return arriving;
}

/// True if more mass is left than may be missed. It is known up to rounding, which seldom decides.
bool DenseGroup::must_continue(std::uint32_t pass, std::uint32_t column, const HostPassState& before,
                               Mass arriving) const {
  const Mass followed = before.followed[column];
  if (followed + arriving <= tolerance_mass_) return false;
  if (min_arriving(followed, before.edges[column], options_.weighted) + arriving > tolerance_mass_)
    return true;
  return passes_->sent_mass(pass - 1, column) + arriving > tolerance_mass_;
}

QueryFigures DenseGroup::figures(std::uint32_t column) const {
  QueryFigures figures;
  Mass scored = 0;
  for (std::uint64_t v = 0; v < shape_.vertices; ++v) {
    if ((view_.reached()[v] >> column & 1) == 0) continue;
    ++figures.reached;
    scored += view_.scores()[v * shape_.width + column];
  }
  figures.error = from_mass(kWholeMass - scored);
  figures.edges = columns_[column].edges;
  figures.units = kWholeMass;
  figures.peak_bytes = columns_[column].bytes;
  return figures;
}

void DenseGroup::write_top(std::uint32_t column, std::span<Vertex> vertices, std::span<double> values) {
  TopList list({list_.data(), list_.size()}, options_.top);
  for (std::uint64_t v = 0; v < shape_.vertices; ++v) {
    if ((view_.reached()[v] >> column & 1) == 0) continue;
    list.add(static_cast<Vertex>(v), view_.scores()[v * shape_.width + column]);
  }
  list.write(vertices, values);
}

}  // namespace sluice::ppr

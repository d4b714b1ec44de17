#include "engine/ppr/dense/group.hpp"

#include <algorithm>

#include "engine/ppr/methods/top_list.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kPurpose = "queries side by side";

/// The least mass that arrives when followed mass is rounded down along `edges` edges. A sum of weights in
/// double is off by less than a part in 2^20 for any list.
Mass arrives(Mass followed, std::uint64_t edges, bool weighted) {
  const Mass rounding = edges + (weighted ? followed >> 20 : 0);
  return followed - std::min(followed, rounding);
}

}  // namespace

DenseGroup::DenseGroup(const Device& device, const DenseGraph& graph, const Options& options,
                       std::uint32_t width)
    : options_(options),
      continuation_(Continuation::of(options.alpha)),
      enough_(MassUnits{}.mass(std::min(options.tolerance, 1.0))),
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
  query.for_each_reached([&](Vertex v, Mass score, Mass waiting) {
    const std::uint64_t row = std::uint64_t{v} * width;
    std::uint32_t &reached = view_.reached()[v], &sending = view_.sending(0)[v];
    if (reached == 0) std::fill_n(view_.scores() + row, width, Mass{0});
    reached |= 1u << column;
    view_.scores()[row + column] = score;
    if (waiting == 0) return;
    if (sending == 0) std::fill_n(view_.shares(0) + row, width, Mass{0});
    sending = 1;
    view_.shares(0)[row + column] = waiting;
  });
}

void DenseGroup::run() {
  std::sort(seeds_.begin(), seeds_.end(),
            [](const ColumnSeed& a, const ColumnSeed& b) { return a.vertex < b.vertex; });
  turn_ = {};
  for (std::uint32_t column = 0; column < columns(); ++column) move_on(column);
  passes_->begin(0, turn_);
  for (std::uint32_t pass = 1; begin_turn(pass); ++pass) passes_->run(pass, turn_, seeds_);
}

/// Mass that arrives at this column is split in this turn.
void DenseGroup::move_on(std::uint32_t column) {
  ++columns_[column].steps;
  turn_.columns |= 1u << column;
  turn_.follow[column] = continuation_.follow;
  turn_.rounded[column] = continuation_.follow != 0;
  turn_.scored[column] = turn_.going[column] = ~Mass{0};
}

/// False if no column is active any more. The last turn of a column splits nothing: for GD(L) the arriving
/// mass is score; for the limit, scores miss it.
bool DenseGroup::begin_turn(std::uint32_t pass) {
  const HostTurn before = turn_;
  turn_ = {};
  const DenseRow given_back = give_back(before.returned);
  for (std::uint32_t i = 0; i < columns(); ++i) {
    Column& column = columns_[i];
    if (!column.asked) continue;
    column.edges += before.edges[i];
    const bool settles = options_.length != 0 && column.steps == options_.length;
    if (!settles && (options_.length != 0 || goes_on(pass, i, before, given_back[i]))) {
      move_on(i);
      continue;
    }
    column.asked = false;
    turn_.columns |= 1u << i;
    if (settles) turn_.scored[i] = ~Mass{0};
  }
  return turn_.columns != 0;
}

/// The part of returning mass that arrives, per column.
DenseRow DenseGroup::give_back(const DenseRow& returned) {
  DenseRow given{};
  for (std::uint32_t i = 0; i < columns(); ++i) {
    if (returned[i] == 0) continue;
    if (options_.dangling == Dangling::seed) {
      turn_.to_seeds = true;
      continue;
    }
    turn_.each[i] = returned[i] / shape_.vertices;
    turn_.to_each = true;
    given[i] = turn_.each[i] * shape_.vertices;
  }
  if (!turn_.to_seeds) return given;
  for (ColumnSeed& seed : seeds_) {
    seed.mass = columns_[seed.column].seeds.view().share(seed.number, returned[seed.column]);
    given[seed.column] += seed.mass;
  }
  return given;
}

/// True if more mass is left than may be missed. It is known up to rounding, which seldom decides.
bool DenseGroup::goes_on(std::uint32_t pass, std::uint32_t column, const HostTurn& before,
                         Mass given_back) const {
  const Mass followed = before.followed[column];
  if (followed + given_back <= enough_) return false;
  if (arrives(followed, before.edges[column], options_.weighted) + given_back > enough_) return true;
  return passes_->given(pass - 1, column) + given_back > enough_;
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

#include "engine/ppr/dense/pass.hpp"

#include <algorithm>

namespace sluice::ppr {

namespace {

/// Reciprocals of degrees. Most degrees are small, and a look-up is faster than a division.
class DegreeReciprocals {
 public:
  DegreeReciprocals() {
    for (std::uint64_t degree = 1; degree < small_.size(); ++degree) small_[degree] = reciprocal_of(degree);
  }
  std::uint64_t operator()(std::uint64_t degree) const {
    return degree < small_.size() ? small_[degree] : reciprocal_of(degree);
  }

 private:
  std::array<std::uint64_t, 512> small_{};
};

template <bool Weighted, unsigned Width>
class Passes final : public DensePasses {
 public:
  Passes(const DenseGraph& graph, const DenseGroupView& group) : graph_(graph), group_(group) {}

  void begin(std::uint32_t pass, HostPassState& state) const override {
    for (std::uint64_t row = 0; row < graph_.out.vertices; ++row) {
      if (group_.sending(pass)[row] == 0) continue;
      Mass mass[Width];
      std::copy_n(group_.shares(pass) + row * Width, Width, mass);
      process_row(pass, static_cast<Vertex>(row), mass, state);
    }
  }

  void run(std::uint32_t pass, HostPassState& all, std::span<const ColumnSeed> seeds) const override {
    HostPassState state = all;  // a copy that no store to a row may change
    auto seed = seeds.begin();
    const EdgeIndex* const offsets = graph_.in.offsets;
    for (std::uint64_t row = 0; row < graph_.in.vertices; ++row) {
      Mass mass[Width] = {};
      pull(pass + 1, offsets[row], offsets[row + 1], mass);
      if (state.to_all_vertices) {
        for (unsigned column = 0; column < Width; ++column) mass[column] += state.per_vertex[column];
      }
      if (state.to_seeds) {
        for (; seed != seeds.end() && seed->vertex == row; ++seed) mass[seed->column] += seed->mass;
      }
      process_row(pass, static_cast<Vertex>(row), mass, state);
    }
    all = state;
  }

  Mass sent_mass(std::uint32_t pass, std::uint32_t column) const override {
    Mass sum = 0;
    for (std::uint64_t row = 0; row < graph_.out.vertices; ++row) {
      if (group_.sending(pass)[row] == 0) continue;
      const std::uint64_t share = group_.shares(pass)[row * Width + column];
      const EdgeIndex begin = graph_.out.offsets[row], end = graph_.out.offsets[row + 1];
      if (!Weighted) {
        sum += share * (end - begin);
        continue;
      }
      for (EdgeIndex edge = begin; edge < end && share != 0; ++edge)
        sum += weighted_share(double_of(share), static_cast<double>(graph_.out.weights[edge]));
    }
    return sum;
  }

 private:
  static constexpr EdgeIndex kAhead = 24;  ///< edges by which rows are prefetched

  void pull(std::uint32_t from, EdgeIndex begin, EdgeIndex end, Mass* mass) const {
    const CsrView& in = graph_.in;
    const std::uint32_t* const sending = group_.sending(from);
    const Mass* const shares = group_.shares(from);
    for (EdgeIndex edge = begin; edge < end; ++edge) {
      if (edge + kAhead < in.edges)
        __builtin_prefetch(shares + std::uint64_t{in.targets[edge + kAhead]} * Width);
      const Vertex source = in.targets[edge];
      if (sending[source] == 0) continue;
      const Mass* const share = shares + std::uint64_t{source} * Width;
      if (Weighted) {
        const auto weight = static_cast<double>(in.weights[edge]);
        for (unsigned column = 0; column < Width; ++column)
          mass[column] += weighted_share(double_of(share[column]), weight);
      } else {
        for (unsigned column = 0; column < Width; ++column) mass[column] += share[column];
      }
    }
  }

  /// Scores the kept mass of a row, and prepares the rest to be pulled.
  void process_row(std::uint32_t pass, Vertex row, const Mass* mass, HostPassState& state) const {
    std::uint32_t& sending = group_.sending(pass)[row];
    sending = 0;
    Mass any = 0;
    for (unsigned column = 0; column < Width; ++column) any |= mass[column];
    if (any == 0) return;
    reach(row, mass, state.columns);
    Mass* const score = group_.scores() + std::uint64_t{row} * Width;
    Mass* const share = group_.shares(pass) + std::uint64_t{row} * Width;
    const EdgeIndex degree = graph_.out.offsets[row + std::uint64_t{1}] - graph_.out.offsets[row];
    const double total = Weighted ? graph_.totals[row] : 1;
    Mass followed[Width];
    for (unsigned column = 0; column < Width; ++column)
      followed[column] = multiply_high(mass[column], state.follow[column]);
    for (unsigned column = 0; column < Width; ++column) {
      const Mass nonzero_mask = mass[column] != 0 ? ~Mass{0} : 0;
      score[column] += (mass[column] - followed[column] - (state.rounding[column] & nonzero_mask)) &
                       state.score_mask[column];
    }
    if (degree == 0 || total == 0) {
      for (unsigned column = 0; column < Width; ++column) state.returned[column] += followed[column];
      return;
    }
    for (unsigned column = 0; column < Width; ++column) {
      state.edges[column] += mass[column] != 0 ? degree & state.continue_mask[column] : 0;
      state.followed[column] += followed[column];
    }
    const std::uint64_t reciprocal = Weighted ? 0 : reciprocals_(degree);
    std::uint64_t sent = 0;
    for (unsigned column = 0; column < Width; ++column) {
      share[column] = Weighted ? followed[column] == 0 ? 0 : bits_of(mass_per_weight(followed[column], total))
                               : divided(followed[column], degree, reciprocal);
      sent |= share[column];
    }
    sending = sent != 0;
  }

  /// Scores start at 0 when the first column reaches a row.
  void reach(Vertex row, const Mass* mass, std::uint32_t columns) const {
    std::uint32_t& reached = group_.reached()[row];
    if ((columns & ~reached) == 0) return;
    if (reached == 0) std::fill_n(group_.scores() + std::uint64_t{row} * Width, Width, Mass{0});
    for (unsigned column = 0; column < Width; ++column)
      reached |= static_cast<std::uint32_t>(mass[column] != 0) << column;
  }

  const DenseGraph& graph_;
  DenseGroupView group_;
  DegreeReciprocals reciprocals_;
};

template <bool Weighted>
std::unique_ptr<DensePasses> make_passes(const DenseGraph& graph, const DenseGroupView& group,
                                         std::uint32_t width) {
  switch (width) {
    case 1:
      return std::make_unique<Passes<Weighted, 1>>(graph, group);
    case 2:
      return std::make_unique<Passes<Weighted, 2>>(graph, group);
    case 4:
      return std::make_unique<Passes<Weighted, 4>>(graph, group);
    default:
      return std::make_unique<Passes<Weighted, 8>>(graph, group);
  }
}

}  // namespace

std::unique_ptr<DensePasses> make_dense_passes(const DenseGraph& graph, const DenseGroupView& group,
                                               std::uint32_t width) {
  return graph.totals != nullptr ? make_passes<true>(graph, group, width)
                                 : make_passes<false>(graph, group, width);
}

}  // namespace sluice::ppr

// Integer scores as in MeLoPPR (DAC'21, section V-A): how many units a query's mass needs, and what its list
// loses with scores of 32 bits.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "apps/bench/papers/meloppr.hpp"
#include "apps/bench/workload.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::bench::papers {

namespace {

/// The result of one query.
struct Answer : ppr::Sink {
  void write(const ppr::Batch& batch) override {
    list.assign(batch.vertices.begin(), std::ranges::find(batch.vertices, kNoVertex));
    std::ranges::sort(list);
    reached = batch.figures[0].reached, error = batch.figures[0].error;
    bytes = static_cast<double>(batch.figures[0].peak_bytes);
    units = static_cast<double>(batch.figures[0].units);
  }
  /// The share of the other's list that is also in this one.
  double common(const Answer& other) const {
    std::vector<Vertex> both;
    std::ranges::set_intersection(list, other.list, std::back_inserter(both));
    return static_cast<double>(both.size()) / static_cast<double>(other.list.size());
  }
  std::vector<Vertex> list;
  std::uint64_t reached = 0;
  double error = 0, bytes = 0, units = 0;
};

ppr::Options six_steps_of(const ppr::Options& like) {
  ppr::Options o = six_steps(ppr::Method::exact);
  o.alpha = like.alpha, o.first_instance = like.first_instance, o.last_instance = like.last_instance;
  return o;
}

class Integers {
 public:
  Integers(Tables& tables, Device& device, const Graph& graph)
      : tables_(tables), device_(device), graph_(graph) {}

  void run() {
    std::uint64_t largest = 0;
    for (std::uint64_t v = 0; v < graph_.vertices(); ++v)
      largest =
          std::max<std::uint64_t>(largest, graph_.out.view().offsets[v + 1] - graph_.out.view().offsets[v]);
    const double average = static_cast<double>(graph_.edges()) / static_cast<double>(graph_.vertices());
    for (const double alpha : {0.85, 0.95}) {
      for (const ppr::Method method : {ppr::Method::exact, ppr::Method::staged}) {
        ppr::Options o = six_steps(method);
        o.alpha = alpha, o.top = alpha == 0.85 ? 200 : 100;
        const std::string name = fmt::format("alpha {}, k {}, {}", alpha, o.top,
                                             method == ppr::Method::exact ? "one stage" : "10%");
        loss(name + ", d the average degree", o, average);
        loss(name + ", d the largest degree", o, static_cast<double>(largest));
        loss(name + ", 2^32 - 1 units", o, 0);
        o.unit_degree = ppr::BallDegree::average;
        loss(name + ", d and vertices of the ball, average", o, 0);
        o.unit_degree = ppr::BallDegree::largest;
        loss(name + ", d and vertices of the ball, largest", o, 0);
      }
    }
  }

 private:
  /// A query's mass has `degree` units for each vertex that it reaches in six steps (0: the maximum), or as
  /// many as its ball gives (--score-units average, largest). The reference has 64 bits and the same method.
  void loss(const std::string& row, ppr::Options o, double degree) {
    tables_.report_progress(row);
    constexpr double kMaxUnits = ~std::uint32_t{0};
    double common = 0, error = 0, units = 0, memory = 0;
    for (Instance q = 0; q < kCounted; ++q) {
      o.first_instance = q, o.last_instance = q + 1;
      o.state = ppr::State::sparse, o.score_units = 0;
      ppr::Options fine = o;
      fine.unit_degree = ppr::BallDegree::none;
      const Answer exact = answer(six_steps_of(o)), right = answer(fine);
      const double wanted = degree * static_cast<double>(exact.reached);
      if (o.unit_degree == ppr::BallDegree::none)
        o.score_units =
            static_cast<std::uint32_t>(degree == 0 ? kMaxUnits : std::clamp(wanted, 1.0, kMaxUnits));
      const Answer own = answer(o);
      common += own.common(right), error += own.error, units += own.units;
      memory += ratio(own.bytes, right.bytes);
    }
    const double percent = 100.0 / kCounted;
    tables_.add_row(row, {100 - percent * common}, "% lost of precision",
                    {{"units a query", units / kCounted},
                     {"% of the mass missed", percent * error},
                     {"% of the memory of 64 bits", percent * memory}});
  }

  Answer answer(ppr::Options o) {
    o.seed = tables_.options().seed;
    Answer found;
    ppr::run_ppr(device_, graph_, random_starts(kCounted), o, found);
    return found;
  }

  Tables& tables_;
  Device& device_;
  const Graph& graph_;
};

}  // namespace

void add_meloppr_integers(Tables& tables, Device& device, const Graph& graph) {
  Integers(tables, device, graph).run();
}

}  // namespace sluice::bench::papers

// Gathers over ranks and in partitions: every rank hears, for its own vertices, what all vertices have sent.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/acc/program.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <GatherProgram Program>
class OwnedGather {
  using State = typename Program::State;

 public:
  OwnedGather(const AccGraph& graph, const Program& program, const AccOptions& options)
      : rows_(*graph.owned()),
        program_(program),
        options_(options),
        crew_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        sent_(graph.device(), graph.vertices(), "what vertices send"),
        next_sent_(graph.device(), graph.vertices(), "what vertices send"),
        mine_(crew_.size()),
        pages_(rows_.make_pages(rows_.in(), locks_)) {}

  void run(AccStats& stats) {
    const std::uint64_t rows = rows_.last() - rows_.first();
    std::fill_n(states_.data(), states_.size(), State{0});
    put(0, rows, [&](Vertex v) { return program_.init(v, rows_.degree(v)); });
    settle();
    for (stats.converged = false; !stats.converged && at_.round <= options_.most_rounds; ++at_.round) {
      over_pages([&](const SweepPage& page) {
        put(page.begin, page.end,
            [&](Vertex v) { return program_.finish(states_.data()[v], gather(v, page)); });
      });
      const Totals totals = settle();
      stats.converged = totals.active == 0;
      AccRoundTrace trace{.pull = true};
      trace.active = totals.active, trace.edges = totals.edges;
      stats.add(trace);
    }
    rows_.share(states_.data(), "the results");
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

  const State* states() const { return states_.data(); }

 private:
  static constexpr std::uint64_t kVerticesAtOnce = 256;

  struct Totals {
    State carried{};
    std::uint64_t active = 0, edges = 0;
  };
  struct alignas(64) Mine {
    Totals totals;
  };

  template <class Work>
  void over_pages(Work&& work) {
    const CsrView& in = rows_.in().in;
    if (pages_ == nullptr) return work(SweepPage{0, 0, in.vertices, in.targets, in.weights});
    pages_->for_each([](std::uint32_t) { return 1; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) work(page);
                     });
  }

  State gather(Vertex v, const SweepPage& page) const {
    const EdgeIndex* list = rows_.in().in.offsets + (v - rows_.first());
    State sum{};
    for (EdgeIndex e = list[0]; e < list[1]; ++e)
      sum = program_.combine(sum, program_.compute({page.sources[e], v, e, at_, sent_.data(), page.weights}));
    return sum;
  }

  /// Gives vertices of these rows the state that state_of(v) says, and notes what follows from it.
  template <class StateOf>
  void put(std::uint64_t first_row, std::uint64_t last_row, StateOf&& state_of) {
    const EdgeIndex* offsets = rows_.in().in.offsets;
    crew_.blocks(last_row - first_row, kVerticesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   Totals& totals = mine_[thread].totals;
                   for (std::uint64_t row = first_row + begin; row < first_row + end; ++row) {
                     const auto v = static_cast<Vertex>(rows_.first() + row);
                     const State before = states_.data()[v], now = state_of(v);
                     totals.active += program_.active(now, before);
                     totals.edges += offsets[row + 1] - offsets[row];
                     totals.carried += program_.carry(now, rows_.degree(v));
                     states_.data()[v] = now;
                     next_sent_.data()[v] = program_.send(now, rows_.degree(v));
                   }
                 });
  }

  /// After all vertices have their new states: what the ranks need of each other for the next round.
  Totals settle() {
    std::array<std::uint64_t, 3> sums{};
    for (Mine& mine : mine_) {
      const Totals totals = std::exchange(mine.totals, {});
      sums[0] += totals.carried, sums[1] += totals.active, sums[2] += totals.edges;
    }
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    std::swap(sent_, next_sent_);
    rows_.share(sent_.data(), "what vertices send");
    const auto carried = static_cast<State>(sums[0]);
    program_.begin(carried);
    return {carried, sums[1], sums[2]};
  }

  const OwnedRows& rows_;
  Program program_;
  AccOptions options_;
  Crew crew_;
  Buffer<State> states_, sent_, next_sent_;  ///< [vertices]
  std::vector<Mine> mine_;                   ///< [threads]
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  AccRound at_{1, 0};
};

}  // namespace sluice::acc

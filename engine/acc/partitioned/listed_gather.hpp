// A rank's part of the rounds of a gather on a GPU: what owned_gather.hpp does with the host's threads. The
// states of own vertices stay on the device; what all vertices send goes through the hosts where there are
// several ranks.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/place.hpp"
#include "engine/acc/partitioned/round_output.hpp"

namespace sluice::acc {

/// Pointers are to the device's memory; rows are own vertices.
template <class Program>
struct GatherRows {
  using State = typename Program::State;

  Program program;
  std::uint64_t first = 0;
  const EdgeIndex* out_offsets = nullptr;  ///< [rows + 1]
  State* states = nullptr;                 ///< [rows]
  const State* sent = nullptr;             ///< [vertices]
  State* next_sent = nullptr;              ///< [rows]

  /// Gives a row a state, and notes what follows from it: sums[0] is carried, sums[1] counts the active.
  template <class Lane>
  SLUICE_HD void set(std::uint64_t row, State now, bool active, Lane& lane) const {
    const std::uint64_t degree = out_offsets[row + 1] - out_offsets[row];
    states[row] = now;
    next_sent[row] = program.send(now, degree);
    lane.add(0, program.carry(now, degree));
    lane.add(1, active);
  }
};

template <class Program>
struct StartGather {
  GatherRows<Program> rows;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    const std::uint64_t degree = rows.out_offsets[row + 1] - rows.out_offsets[row];
    rows.set(row, rows.program.init(static_cast<Vertex>(rows.first + row), degree), false, lane);
  }
};

template <class Program>
struct GatherEdges {
  using State = typename Program::State;

  GatherRows<Program> rows;
  AccRound at;
  const Vertex* sources;
  const float* weights;

  SLUICE_HD State value(std::uint64_t row, EdgeIndex e) const {
    return rows.program.compute(
        {sources[e], static_cast<Vertex>(rows.first + row), e, at, rows.sent, weights});
  }
  SLUICE_HD State combine(State a, State b) const { return rows.program.combine(a, b); }
  template <class Lane>
  SLUICE_HD void put(std::uint64_t row, State gathered, Lane& lane) const {
    const State before = rows.states[row], now = rows.program.finish(before, gathered);
    rows.set(row, now, rows.program.active(now, before), lane);
  }
};

template <GatherProgram Program, class Team>
class ListedGather {
 public:
  using State = typename Program::State;

  ListedGather(const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(graph.device()),
        rows_(*graph.owned()),
        options_(options),
        own_rows_(rows_.last() - rows_.first()),
        team_(device_, 0),
        in_offsets_(device_, own_rows_ + 1, "the graph's offsets"),
        out_offsets_(device_, own_rows_ + 1, "the graph's offsets"),
        states_(device_, own_rows_, "vertex states"),
        sent_(device_, graph.vertices(), "what vertices send"),
        next_sent_(device_, own_rows_, "what vertices send"),
        counts_(device_, Found::kSums + 1, "counts"),
        all_(graph.vertices(), "results"),
        place_(device_, rows_, rows_.in()) {
    copy_to_device(device_, in_offsets_.data(), rows_.in().in.offsets, in_offsets_.bytes());
    copy_to_device(device_, out_offsets_.data(), rows_.lists().offsets, out_offsets_.bytes());
    notes_.sums = counts_.data();
    notes_.lowest = counts_.data() + Found::kSums;
    view_ = {program, rows_.first(), out_offsets_.data(), states_.data(), sent_.data(), next_sent_.data()};
  }

  void run(AccStats& stats) {
    AccRound at{1, 0};
    clear_counts();
    team_.each(own_rows_, notes_, StartGather<Program>{view_});
    settle();
    for (stats.converged = false; !stats.converged && at.round <= options_.most_rounds; ++at.round) {
      clear_counts();
      gather(at);
      AccRoundTrace trace{.pull = true};
      trace.active = settle();
      trace.edges = edges_;
      stats.converged = trace.active == 0;
      stats.add(trace);
    }
    share(states_, "the results");
    place_.add_traffic(stats);
    stats.kernel_launches = team_.launches();
  }

  /// In host memory.
  const State* states() const { return all_.data(); }

 private:
  void clear_counts() {
    team_.fill(counts_.data(), 0, Found::kSums * sizeof(std::uint64_t));
    team_.fill(notes_.lowest, 0xff, sizeof(std::uint64_t));
  }

  void gather(const AccRound& at) {
    const auto from = [&](const SweepPage& page) {
      team_.over_rows({page.begin, page.end, in_offsets_.data()}, notes_,
                      GatherEdges<Program>{view_, at, page.sources, page.weights});
    };
    if (place_.pages() == nullptr) return from(place_.whole());
    place_.pages()->for_each([](std::uint32_t) { return 1; },
                             [&](std::span<const SweepPage> pages) {
                               for (const SweepPage& page : pages) from(page);
                               team_.wait("partitions of lists");
                             });
  }

  /// Makes all_ on every rank what the vertices' owners have.
  void share(const Buffer<State>& own, const char* label) {
    copy_to_host(device_, all_.data() + rows_.first(), own.data(), own.bytes());
    rows_.share(all_.data(), label);
  }

  /// After all vertices have their new states: what the ranks need of each other for the next round. Returns
  /// how many are active.
  std::uint64_t settle() {
    std::vector<std::uint64_t> sums(Found::kSums);
    team_.read(sums.data(), counts_.data(), sums.size(), "a round of a gather");
    sums.push_back(rows_.in().in.edges);
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    if (rows_.ranks().size() == 1) {
      std::swap(sent_, next_sent_);
      view_.sent = sent_.data(), view_.next_sent = next_sent_.data();
    } else {
      share(next_sent_, "what vertices send");
      copy_to_device(device_, sent_.data(), all_.data(), sent_.bytes());
    }
    view_.program.begin(static_cast<State>(sums[0]));
    edges_ = sums[2];
    return sums[1];
  }

  const Device& device_;
  const OwnedRows& rows_;
  AccOptions options_;
  std::uint64_t own_rows_;
  Team team_;
  Buffer<EdgeIndex> in_offsets_, out_offsets_;
  Buffer<State> states_, sent_, next_sent_;
  Buffer<unsigned long long> counts_;  ///< sums, and the lowest
  HostArray<State> all_;
  ListedPlace place_;
  Found notes_;
  GatherRows<Program> view_;
  std::uint64_t edges_ = 0;  ///< of a round, on all ranks
};

}  // namespace sluice::acc

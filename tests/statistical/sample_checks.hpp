// Checks of samples: each runs the engine, replays every instance, and judges every draw by its state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "statistical/draw_tally.hpp"
#include "statistical/harness.hpp"
#include "statistical/sample_replay.hpp"

namespace sluice::stat {

/// A further condition by which draws are classed, to test that they are independent of it.
enum class Given {
  nothing,
  draw_before,      ///< the draw before it in the same instance
  instance_before,  ///< the previous instance's draw from the same lists
  twin,             ///< this instance's last draw from the same lists (--revisit)
};

/// Turns the slots of one instance into draws: one for each slot, or for `layer` one for each depth.
struct Draw {
  std::vector<Vertex> sources;
  std::int32_t depth;
  std::vector<std::size_t> positions;
  bool certain;
};

inline std::vector<Draw> draws_of(const CsrView& graph, const samples::Options& options,
                                  const SampleView& sample, const std::vector<Slot>& slots) {
  std::vector<Draw> draws;
  std::size_t before = 0;  // entries of the lists before, for a layer
  for (const Slot& slot : slots) {
    const bool joins =
        options.kind == samples::Kind::layer && !draws.empty() && draws.back().depth == slot.depth;
    if (!joins) {
      draws.push_back({{}, slot.depth, {}, true});
      before = 0;
    }
    Draw& draw = draws.back();
    draw.sources.push_back(slot.vertex);
    draw.certain = draw.certain && slot.certain;
    for (std::size_t e = slot.begin; e < slot.end; ++e)
      draw.positions.push_back(before + sample.edge[e] - graph.offsets[slot.vertex]);
    before += degree(graph, slot.vertex);
  }
  return draws;
}

inline std::uint64_t key_of(std::span<const Vertex> sources, std::int32_t depth) {
  std::uint64_t key = fold(17, static_cast<std::uint64_t>(depth));
  for (const Vertex v : sources) key = fold(key, v);
  return key;
}

/// Samples of all kinds that grow from seeds: neighbor, forest-fire, snowball, layer. `judged`: compares with
/// the distributions of other options, to test the checks.
inline Report check_samples(Bench& bench, const Starts& starts, const samples::Options& options,
                            Given given = Given::nothing, const samples::Options* judged = nullptr) {
  const CsrView graph = bench.view();
  Report broken;
  DrawTally tally(graph, judged ? *judged : options);
  Replay replay(graph, options);
  std::unordered_map<std::uint64_t, std::uint64_t> last, current;  // lists -> their draw
  std::uint64_t edges = 0;
  SampleReader reader([&](const SampleView& sample) {
    std::vector<Vertex> asked(sample.seeds.begin(), sample.seeds.end());
    if (starts.mode == Starts::Mode::listed) {
      asked.assign(
          starts.vertices.begin() + static_cast<std::ptrdiff_t>(starts.offsets[sample.instance]),
          starts.vertices.begin() + static_cast<std::ptrdiff_t>(starts.offsets[sample.instance + 1]));
    } else if (starts.mode == Starts::Mode::per_vertex) {
      asked.assign(1, static_cast<Vertex>(sample.instance % graph.vertices));
    }
    edges += sample.edge.size();
    const std::string wrong = replay.run(sample, asked);
    if (!wrong.empty()) return broken.broken("instance " + std::to_string(sample.instance) + ": " + wrong);
    if (options.kind == samples::Kind::snowball) return;  // nothing is drawn
    current.clear();
    std::uint64_t before = 0;
    for (const Draw& draw : draws_of(graph, options, sample, replay.slots())) {
      if (!draw.certain) continue;
      std::uint64_t outcome = key_of(draw.sources, 0);
      for (const std::size_t position : draw.positions) outcome = fold(outcome, position + 1);
      const std::uint64_t lists = key_of(draw.sources, given == Given::twin ? 0 : draw.depth);
      const bool known = given == Given::twin ? current.contains(lists) : last.contains(lists);
      if (given == Given::nothing) tally.count(draw.sources, draw.depth, draw.positions);
      if (given == Given::draw_before) tally.count(draw.sources, draw.depth, draw.positions, before);
      if (given == Given::instance_before && known)
        tally.count(draw.sources, draw.depth, draw.positions, last[lists]);
      if (given == Given::twin && known)
        tally.count(draw.sources, draw.depth, draw.positions, current[lists]);
      current[lists] = before = outcome;
    }
    std::swap(last, current);
  });

  const RunStats stats = sampling::run_samples(bench.resident, starts, options, &reader);

  Report report = tally.report();
  report.merge(broken, "rule");
  if (!reader.in_order() || reader.count() != starts.instances(graph.vertices))
    report.broken("instances are missing or out of order");
  if (stats.sampled_edges != edges) report.broken("RunStats::sampled_edges is not the number of edges");
  if (options.kind == samples::Kind::snowball && report.size() == 0) report.add("rules alone", 1);
  return report;
}

}  // namespace sluice::stat

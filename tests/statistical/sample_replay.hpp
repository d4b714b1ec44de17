// The rules of a sample that involve no randomness, checked on every instance. These are seeds, depths, order
// of the frontier, expanded vertices, positions and numbers of edges. The replay also divides the sample into
// draws.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "statistical/harness.hpp"
#include "statistical/oracle_bias.hpp"

namespace sluice::stat {

/// One expansion: a frontier entry and the edges [begin, end) of the sample that it drew.
struct Slot {
  Vertex vertex;
  std::int32_t depth;
  std::size_t begin, end;
  bool certain;  ///< the cut is unambiguous (with --revisit a vertex may be in a frontier twice), or the one
                 ///< that copies.hpp folds by
};

class Replay {
 public:
  Replay(const CsrView& graph, const samples::Options& options)
      : graph_(graph), options_(options), seen_(graph.vertices), copies_(graph.vertices) {
    for (Vertex v = 0; v < graph.vertices; ++v)
      candidates_.push_back(candidates(list_biases(graph, v, bias())));
  }

  std::int32_t depths() const {
    if (options_.kind == samples::Kind::neighbor) return static_cast<std::int32_t>(options_.fanout.size());
    if (options_.kind == samples::Kind::layer) return static_cast<std::int32_t>(options_.layer_sizes.size());
    return static_cast<std::int32_t>(options_.depth);
  }
  Bias bias() const { return options_.kind == samples::Kind::snowball ? Bias::none : options_.bias; }
  const std::vector<Slot>& slots() const { return slots_; }

  /// Returns the fault, or an empty string.
  std::string run(const SampleView& sample, std::span<const Vertex> asked) {
    slots_.clear();
    begin_instance();
    const bool layer = options_.kind == samples::Kind::layer;
    std::vector<Vertex> frontier;
    for (const Vertex v : asked)  // repeated seeds count once
      if (reach(v)) frontier.push_back(v);
    if (!std::ranges::equal(frontier, sample.seeds)) return "seeds are not those asked for, in order";

    std::size_t next = 0;
    for (std::int32_t depth = 1; depth <= depths(); ++depth) {
      const std::size_t begin = next;
      for (const Vertex v : frontier) copies_[v] = 0;
      for (const Vertex v : frontier) ++copies_[v];
      std::uint64_t open = 0;
      for (const Vertex v : frontier) {
        open += candidates_[v];
        const std::int64_t wanted = count_of(v, depth);
        Slot slot{v, depth, next, next, wanted >= 0 || layer || copies_[v] == 1};
        while (next < sample.edge.size() && belongs(sample, slot, next) &&
               (wanted < 0 || next - slot.begin < static_cast<std::uint64_t>(wanted)))
          ++next;
        slot.end = next;
        if (wanted >= 0 && slot.end - slot.begin != static_cast<std::uint64_t>(wanted))
          return "vertex " + std::to_string(v) + " at depth " + std::to_string(depth) + " has " +
                 std::to_string(slot.end - slot.begin) + " edges in place, not " + std::to_string(wanted);
        slots_.push_back(slot);
      }
      if (layer && next - begin != std::min(options_.layer_sizes[static_cast<std::size_t>(depth) - 1], open))
        return "a layer of " + std::to_string(next - begin) + " edges in place at depth " +
               std::to_string(depth);
      frontier.clear();
      for (std::size_t e = begin; e < next; ++e)
        if (options_.revisit || reach(sample.target[e])) frontier.push_back(sample.target[e]);
    }
    return next == sample.edge.size()
               ? ""
               : "edges that belong to no frontier entry, from " + std::to_string(next);
  }

 private:
  void begin_instance() {
    if (++stamp_ == 0) std::fill(seen_.begin(), seen_.end(), 0), stamp_ = 1;
  }
  bool reach(Vertex v) {
    if (seen_[v] == stamp_) return false;
    seen_[v] = stamp_;
    return true;
  }
  /// The number of edges that v draws at `depth`; -1 if it is random.
  std::int64_t count_of(Vertex v, std::int32_t depth) const {
    const auto open = static_cast<std::int64_t>(candidates_[v]);
    if (options_.kind == samples::Kind::snowball) return open;
    if (options_.kind != samples::Kind::neighbor) return -1;
    const std::int64_t fanout = options_.fanout[static_cast<std::size_t>(depth) - 1];
    if (options_.replace) return open ? fanout : 0;
    return fanout < 0 ? open : std::min(fanout, open);
  }
  bool belongs(const SampleView& sample, const Slot& slot, std::size_t e) const {
    const EdgeIndex edge = sample.edge[e];
    if (sample.depth[e] != slot.depth || sample.source[e] != slot.vertex) return false;
    if (edge < graph_.offsets[slot.vertex] || edge >= graph_.offsets[slot.vertex + 1]) return false;
    if (sample.target[e] != graph_.targets[edge]) return false;
    if (e == slot.begin) return true;
    return options_.replace ? edge >= sample.edge[e - 1] : edge > sample.edge[e - 1];
  }

  CsrView graph_;
  samples::Options options_;
  std::vector<std::uint32_t> seen_, copies_;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint64_t> candidates_;
  std::vector<Slot> slots_;
};

}  // namespace sluice::stat

// Which entries an instance has at which depth, where the levels of a batch are made of those instances that
// go on at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "engine/samples/level.hpp"
#include "engine/samples/levels_host.hpp"
#include "engine/samples/store.hpp"
#include "engine/samples/visited.hpp"

namespace sluice::samples::host {

/// Entries [begin, begin + count) of a level: an instance's of one depth.
struct Frontier {
  std::uint64_t begin;
  std::uint32_t count, level;
};

template <class Program>
class Frontiers {
 public:
  Frontiers(const Device& device, bool revisit) : device_(device), revisit_(revisit) {}

  void begin(std::uint64_t instances) {
    levels_.clear(), by_depth_.clear();
    instances_ = instances;
  }
  std::uint32_t levels() const { return static_cast<std::uint32_t>(levels_.size()); }
  SampleLevel& last() { return levels_.back(); }
  const SampleLevel& last() const { return levels_.back(); }
  SampleLevel& add_level() { return levels_.emplace_back(); }

  /// [instances] those of a depth, or of the one behind the deepest.
  Frontier* at_depth(std::uint32_t depth) {
    if (depth < by_depth_.size()) return by_depth_[depth].data();
    Buffer<Frontier>& added = by_depth_.emplace_back();
    added.reserve(device_, instances_, kSampleBatch);
    std::fill_n(added.data(), instances_, Frontier{});
    return added.data();
  }
  std::uint32_t depths() const { return static_cast<std::uint32_t>(by_depth_.size()); }

  /// Edges that an instance has selected at a depth, and those of all levels.
  std::uint64_t edges_of(std::uint32_t depth, std::uint64_t instance) const {
    const Frontier& own = of(depth, instance);
    const std::uint64_t* const offsets = levels_[own.level].offsets.data() + own.begin;
    return offsets[own.count] - offsets[0];
  }
  std::uint64_t edges() const {
    return std::accumulate(levels_.begin(), levels_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const SampleLevel& level) { return sum + level.edges; });
  }

  /// An instance's frontier whose edges are selected.
  InstanceLevel selected(std::uint32_t depth, std::uint64_t instance) const {
    const Frontier& own = of(depth, instance);
    const SampleLevel& level = levels_[own.level];
    const std::uint64_t* const offsets = level.offsets.data() + own.begin;
    std::uint64_t slots = of(0, instance).count - offsets[0];
    for (std::uint32_t d = 0; revisit_ && d < depth; ++d) slots += edges_of(d, instance);
    return {level.frontier.data() + own.begin,
            offsets,
            own.count,
            Program::kUpdates ? level.arrivals.data() : level.targets.data(),
            revisit_,
            slots};
  }

  /// What an instance has visited up to a depth.
  void remember(std::uint32_t depth, std::uint64_t instance, VisitedSet& visited) const {
    visited.clear();
    for (std::uint32_t d = 0; d <= depth; ++d)
      each(d, instance, [&](const SampleLevel& level, std::uint64_t at) {
        visited.insert(level.frontier.data()[at].vertex);
      });
  }

  /// Appends an instance whose edges of `depths` depths at most are selected.
  void append(const GraphView& graph, std::uint32_t depths, std::uint64_t instance, SampleStore& out) const {
    each(0, instance, [&](const SampleLevel& level, std::uint64_t at) {
      out.seeds.push_back(level.frontier.data()[at].vertex);
    });
    out.seed_counts.push_back(of(0, instance).count);
    const std::size_t before = out.edge.size();
    for (std::uint32_t d = 0; d < std::min(depths, this->depths()); ++d)
      each(d, instance, [&](const SampleLevel& level, std::uint64_t at) {
        const Vertex source = level.frontier.data()[at].vertex;
        const EdgeIndex first = graph.row(source).offset;
        for (std::uint64_t e = level.offsets.data()[at]; e < level.offsets.data()[at + 1]; ++e)
          out.add_edge(source, level.targets.data()[e], d + 1, first + level.indices.data()[e]);
      });
    out.edge_counts.push_back(out.edge.size() - before);
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const SampleLevel& level : levels_) sum += level.bytes();
    for (const Buffer<Frontier>& frontiers : by_depth_) sum += frontiers.bytes();
    return sum;
  }

 private:
  const Frontier& of(std::uint32_t depth, std::uint64_t instance) const {
    return by_depth_[depth].data()[instance];
  }
  template <class Body>
  void each(std::uint32_t depth, std::uint64_t instance, const Body& body) const {
    const Frontier& own = of(depth, instance);
    for (std::uint64_t at = own.begin; at < own.begin + own.count; ++at) body(levels_[own.level], at);
  }

  const Device& device_;
  bool revisit_;
  std::uint64_t instances_ = 0;
  std::deque<SampleLevel> levels_;          ///< as they were made
  std::vector<Buffer<Frontier>> by_depth_;  ///< [instances] each
};

}  // namespace sluice::samples::host

// A table for tests of steps that always proposes the same entry of a list.
#pragma once

#include <cstdint>

#include "engine/select/tables.hpp"

namespace sluice::walks {

/// Always proposes the last entry of a list, in any partition.
struct LastEntry {
  static constexpr bool kSpareWord = true;

  bool locate(const GraphView&, Vertex, const Row& row, const PhiloxBlock&, Probe& probe) const {
    probe.position = row.offset + row.degree - 1;
    return row.degree > 0;
  }
  void prefetch_probe(const GraphView&, const Probe&) const {}
  Hop resolve(const GraphView& graph, const Probe& probe) const {
    const Vertex target = graph.target(probe.position);
    return {target, graph.row(target), probe.position};
  }
  static std::uint32_t read_bytes(const Row& row) { return 100 + row.degree; }
};

}  // namespace sluice::walks

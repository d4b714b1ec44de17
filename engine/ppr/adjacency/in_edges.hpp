// The in-edges of a graph in host memory: its own lists if each edge is stored in both directions; otherwise
// the in-edges that it stores, or that are built here.
#pragma once

#include <cstdint>

#include "engine/exec/device.hpp"
#include "partition/build.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

class InEdges {
 public:
  /// Keeps a reference to the graph. Throws BudgetError.
  InEdges(const Device& device, const Graph& graph)
      : stored_(graph.directed && !must_build(graph) ? graph.in : graph.out) {
    if (device.is_planning()) {
      host_budget().charge_and_release(peak_bytes(graph), "in-edges");
    } else if (must_build(graph)) {
      built_ = transpose(graph.out, device.threads());
    }
  }

  /// In a run that is only planned, out-edges stand for in-edges that would be built.
  const Csr& rows() const { return built_.offsets.empty() ? stored_ : built_; }
  /// Peak bytes of the constructor; 0 if nothing is built. It is a sum, because queries use it while they
  /// run: a plan of host memory would also count what other threads of the process allocate.
  static std::uint64_t peak_bytes(const Graph& graph) {
    return must_build(graph) ? transpose_bytes(graph.out) : 0;
  }

 private:
  static bool must_build(const Graph& graph) {
    return graph.directed && (graph.in.offsets.empty() || graph.in.targets.size() != graph.edges());
  }

  Csr built_;
  const Csr& stored_;
};

}  // namespace sluice::ppr

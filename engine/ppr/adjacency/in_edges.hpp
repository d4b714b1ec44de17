// The in-edges of a graph that lies in host memory: its own lists where each edge is stored in both
// directions, else those that it stores, or that are made here.
#pragma once

#include <cstdint>

#include "engine/exec/device.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

class InEdges {
 public:
  /// Keeps a reference to the graph. Throws BudgetError.
  InEdges(const Device& device, const Graph& graph);

  /// Of a run that is only planned out-edges stand for those that would be made.
  const Csr& rows() const { return made_.offsets.empty() ? stored_ : made_; }
  /// The most that the constructor takes at once; 0: nothing is made.
  static std::uint64_t peak_bytes(const Graph& graph);

 private:
  Csr made_;
  const Csr& stored_;
};

}  // namespace sluice::ppr

// The lists of some vertices, part by part, through a buffer that is taken beforehand: for readers that must
// not fail for want of memory later, however little is left and however long a list is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

class ListParts {
 public:
  /// Of the out-edges. Where these are in a file, takes a sixteenth of what host memory has left for its
  /// buffer, 64 KiB to 4 MiB. Keeps a reference to the graph. Throws BudgetError.
  ListParts(const Graph& graph, bool weights);

  /// Edges [first, first + targets.size()) of the graph, all of them of one list.
  struct Part {
    EdgeIndex first = 0;
    std::span<const Vertex> targets;
    const float* weights = nullptr;  ///< [targets.size()]; null: every weight is 1, or none were asked for
  };
  /// Calls use(i, part) for all parts of the list of vertices[i], for every i in order; an empty list has
  /// none. The vertices ascend. Lists are handed over whole where they are in memory.
  using Use = std::function<void(std::size_t i, const Part& part)>;
  void for_each(std::span<const Vertex> vertices, const Use& use);

 private:
  /// The positions behind `at` that the buffer is filled with: of vertices[i] and what lies close behind.
  EdgeIndex fill_to(EdgeIndex at, std::span<const Vertex> vertices, std::size_t i) const;
  void fill(EdgeIndex first, EdgeIndex last);

  CsrView rows_;
  const EdgeSource* file_;
  bool weighted_;
  HostArray<Vertex> targets_;
  HostArray<float> weights_;
  EdgeIndex first_ = 0, last_ = 0;  ///< what the buffer holds
};

}  // namespace sluice

// Reads the lists of some vertices part by part through a buffer that is allocated in advance: for readers
// that must not run out of memory later, however little is left and however long a list is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

class ListParts {
 public:
  /// Reads out-edges. If they are in a file, the buffer takes a sixteenth of the host memory that is left, 64
  /// KiB to 4 MiB. Keeps a reference to the graph. Throws BudgetError.
  ListParts(const Graph& graph, bool weights);

  /// Edges [first, first + targets.size()) of the graph, all of them of one list.
  struct Part {
    EdgeIndex first = 0;
    std::span<const Vertex> targets;
    const float* weights = nullptr;  ///< [targets.size()]; null: all are 1, or weights were not requested
  };
  /// Calls use(i, part) for all parts of the list of vertices[i], for every i in order; an empty list has no
  /// parts. The vertices must ascend. Lists in memory are passed whole.
  using Use = std::function<void(std::size_t i, const Part& part)>;
  void for_each(std::span<const Vertex> vertices, const Use& use);

 private:
  /// The end of the read from `position`: it covers the list of vertices[i] and lists close behind it.
  EdgeIndex fill_end(EdgeIndex position, std::span<const Vertex> vertices, std::size_t i) const;
  void fill(EdgeIndex first, EdgeIndex last);

  CsrView rows_;
  const EdgeSource* file_;
  bool weighted_;
  HostArray<Vertex> targets_;
  HostArray<float> weights_;
  EdgeIndex first_ = 0, last_ = 0;  ///< what the buffer holds
};

}  // namespace sluice

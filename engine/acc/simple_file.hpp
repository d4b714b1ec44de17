// The simple undirected form of lists that host memory does not hold: made range by range, in a scratch file
// that partitions are then brought from as from a graph's own.
#pragma once

#include <cstdint>
#include <string>

#include "engine/exec/memory/scratch_file.hpp"
#include "partition/graph.hpp"

namespace sluice {

class SimpleFile final : public EdgeSource {
 public:
  /// Of vertices [first, last), wherever the graph has its edges; neighbours in either direction, each once,
  /// without the vertex itself. A directed graph that has no in-edges is read twice, and its edges to these
  /// vertices wait in a file of their own, 8 bytes each, until their range's turn. Takes half of what host
  /// memory has left, 256 MiB at most, while it works, and 8 bytes a vertex for good. Throws BudgetError
  /// where memory does not hold the two lists of one vertex and what comes of them, RunError naming the
  /// folder.
  SimpleFile(const Graph& graph, std::uint64_t first, std::uint64_t last, const std::string& folder,
             unsigned threads);

  /// Row i is vertex first + i. Edges are read from here; positions begin at 0.
  CsrView lists() const;
  /// What it has written, at most at one time.
  std::uint64_t scratch_bytes() const { return scratch_bytes_; }
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override;
  /// There are none.
  void read_weights(EdgeIndex first, std::span<float> out) const override;

  /// What it writes for so many edges of the graph's own, at most.
  static std::uint64_t most_bytes(const Graph& graph, std::uint64_t edges);

 private:
  HostArray<EdgeIndex> offsets_;
  ScratchFile file_;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace sluice

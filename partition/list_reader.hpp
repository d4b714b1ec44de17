// The lists of some vertices, wherever the graph has its edges.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

class ListReader {
 public:
  /// `rows` have no columns of edges where those are in `file`; null: they are in memory. Keeps references.
  ListReader(const CsrView& rows, const EdgeSource* file, bool weights, unsigned threads)
      : rows_(rows), file_(file), weights_(weights), threads_(threads) {}

  bool in_file() const { return file_ != nullptr; }
  /// Every list where they are in memory, else no more than their lengths.
  const CsrView& rows() const { return rows_; }

  /// `lists` has those of vertices [begin, end) of the ones asked for.
  using Use = std::function<void(const CsrView& lists, std::size_t begin, std::size_t end)>;
  /// Hands over the lists of these vertices: all at once where they are in memory, else stretch by stretch,
  /// as they are read; then the vertices must ascend. Lists that lie close together are read at once. A
  /// stretch holds a part of what host memory has left, and one list at least: BudgetError where that does
  /// not fit.
  void for_each(std::span<const Vertex> vertices, const Use& use) const;

  /// What came from the file.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Stretch;
  void read(std::span<const Stretch> stretches, Vertex* targets, float* weights) const;

  CsrView rows_;
  const EdgeSource* file_;
  bool weights_;
  unsigned threads_;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

/// Of the out-edges. Keeps a reference to the graph.
inline ListReader out_lists(const Graph& graph, bool weights, unsigned threads) {
  return {graph.out.view(), graph.edges_elsewhere.get(), weights, threads};
}

}  // namespace sluice

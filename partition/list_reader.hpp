// Reads the lists of some vertices, from memory or from a file.
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
  /// `file` holds the edge columns that `rows` lacks; null: they are in memory. Keeps references.
  ListReader(const CsrView& rows, const EdgeSource* file, bool weights, unsigned threads)
      : rows_(rows), file_(file), weights_(weights), threads_(threads) {}

  bool in_file() const { return file_ != nullptr; }
  /// All lists if they are in memory; else only their offsets.
  const CsrView& rows() const { return rows_; }

  /// `lists` holds the lists of vertices[begin] to vertices[end - 1] of the requested vertices.
  using Use = std::function<void(const CsrView& lists, std::size_t begin, std::size_t end)>;
  /// Calls use() with the lists of `vertices`: with all at once if they are in memory; else stretch by
  /// stretch as they are read, and the vertices must ascend. Lists that are close together are read together.
  /// A read takes a part of the host memory that is left, but holds at least one list: BudgetError if that
  /// does not fit.
  void for_each(std::span<const Vertex> vertices, const Use& use) const;

  /// Bytes read from the file.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct ReadRange;
  void read(std::span<const ReadRange> ranges, Vertex* targets, float* weights) const;

  CsrView rows_;
  const EdgeSource* file_;
  bool weights_;
  unsigned threads_;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

/// Makes a reader of the out-edges. Keeps a reference to the graph.
inline ListReader out_lists(const Graph& graph, bool weights, unsigned threads) {
  return {graph.out.view(), graph.edge_source.get(), weights, threads};
}

}  // namespace sluice

// Graphs whose edges are not in their columns, as those of a graph in a file.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/core/error.hpp"
#include "partition/graph.hpp"

namespace sluice::test {

/// Columns that are read piece by piece.
class ColumnEdges final : public EdgeSource {
 public:
  explicit ColumnEdges(Csr rows) : rows_(std::move(rows)) {}

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    read(rows_.targets, first, out);
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override { read(rows_.weights, first, out); }
  bool timed() const override { return !rows_.times.empty(); }
  void read_times(EdgeIndex first, std::span<std::int64_t> out) const override {
    read(rows_.times, first, out);
  }

 private:
  template <class T>
  static void read(const HostArray<T>& column, EdgeIndex first, std::span<T> out) {
    if (first + out.size() > column.size()) throw RunError("read behind the last edge");
    std::copy_n(column.data() + first, out.size(), out.data());
  }

  Csr rows_;
};

/// The same graph with only offsets in its rows.
inline Graph elsewhere(Graph graph) {
  const auto move_out = [](Csr& rows) {
    Csr offsets;
    offsets.offsets = HostArray<EdgeIndex>(rows.offsets.size());
    std::copy(rows.offsets.begin(), rows.offsets.end(), offsets.offsets.begin());
    return std::make_shared<ColumnEdges>(std::exchange(rows, std::move(offsets)));
  };
  graph.edge_source = move_out(graph.out);
  if (!graph.in.offsets.empty()) graph.in_edge_source = move_out(graph.in);
  return graph;
}

/// Reads rows back to memory in pieces of the given length.
inline Csr read_back(const Csr& rows, const EdgeSource* from, bool weighted, std::uint64_t piece) {
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(rows.offsets.size());
  std::copy(rows.offsets.begin(), rows.offsets.end(), csr.offsets.begin());
  const std::uint64_t edges = rows.edges();
  const auto bring = [&](auto& column, auto read) {
    for (EdgeIndex at = 0; at < edges; at += piece)
      read(at, column.span().subspan(at, std::min<std::uint64_t>(piece, edges - at)));
  };
  csr.targets = HostArray<Vertex>(edges);
  bring(csr.targets, [&](EdgeIndex at, auto some) { from->read_targets(at, some); });
  csr.weights = HostArray<float>(weighted ? edges : 0);
  if (weighted) bring(csr.weights, [&](EdgeIndex at, auto some) { from->read_weights(at, some); });
  csr.times = HostArray<std::int64_t>(from->timed() ? edges : 0);
  if (from->timed()) bring(csr.times, [&](EdgeIndex at, auto some) { from->read_times(at, some); });
  return csr;
}

}  // namespace sluice::test

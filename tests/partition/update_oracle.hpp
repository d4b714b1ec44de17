// A graph as a sorted map of edges, and the effect of a batch on it, line by line.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "partition/update.hpp"

namespace sluice::test {

struct EdgeValue {
  float weight = 1;
  std::int64_t time = 0;
};

/// The straightforward implementation: every line is looked up in a map.
class UpdateOracle {
 public:
  UpdateOracle(std::uint64_t vertices, bool directed, bool weighted, bool timed)
      : vertices_(vertices), directed_(directed), weighted_(weighted), timed_(timed) {}

  UpdateCounts apply(const UpdateBatch& batch) {
    UpdateCounts counts;
    for (std::size_t i = 0; i < batch.deletions.size(); ++i) {
      const std::uint64_t copies = erase(batch.deletions.source[i], batch.deletions.target[i]);
      counts.deleted += copies;
      counts.missing += copies == 0;
    }
    const std::uint64_t before = vertices_;
    for (std::size_t i = 0; i < batch.insertions.size(); ++i) {
      const EdgeColumns& in = batch.insertions;
      insert(in.source[i], in.target[i], {weighted_ ? in.weight[i] : 1, timed_ ? in.time[i] : 0})
          ? ++counts.inserted
          : ++counts.present;
    }
    counts.new_vertices = vertices_ - before;
    return counts;
  }

  Graph graph(bool with_in) const {
    Graph graph;
    graph.directed = directed_;
    graph.weighted = weighted_;
    graph.out = rows(false);
    if (with_in) graph.in = rows(true);
    return graph;
  }

  std::vector<std::pair<Vertex, Vertex>> pairs() const {
    std::vector<std::pair<Vertex, Vertex>> all;
    for (const auto& [ends, copies] : edges_) all.push_back(ends);
    return all;
  }

 private:
  std::uint64_t erase(Vertex u, Vertex v) {
    const auto found = edges_.find({u, v});
    if (found == edges_.end()) return 0;
    const std::uint64_t copies = found->second.size();
    edges_.erase(found);
    if (!directed_) edges_.erase({v, u});
    return copies;
  }

  bool insert(Vertex u, Vertex v, EdgeValue value) {
    vertices_ = std::max<std::uint64_t>({vertices_, std::uint64_t{u} + 1, std::uint64_t{v} + 1});
    if (!timed_ && edges_.contains({u, v})) return false;
    edges_[{u, v}].push_back(value);
    if (!directed_ && u != v) edges_[{v, u}].push_back(value);
    return true;
  }

  Csr rows(bool in) const {
    std::map<std::pair<Vertex, Vertex>, std::vector<EdgeValue>> by_row;
    std::uint64_t size = 0;
    for (const auto& [ends, copies] : edges_) {
      by_row[in ? std::pair(ends.second, ends.first) : ends] = copies;
      size += copies.size();
    }
    Csr csr;
    csr.offsets = HostArray<EdgeIndex>(vertices_ + 1);
    std::fill(csr.offsets.begin(), csr.offsets.end(), 0);
    csr.targets = HostArray<Vertex>(size);
    if (weighted_) csr.weights = HostArray<float>(size);
    if (timed_) csr.times = HostArray<std::int64_t>(size);
    std::uint64_t next = 0;
    for (const auto& [ends, copies] : by_row) {
      csr.offsets[ends.first + 1] += copies.size();
      for (const EdgeValue& value : copies) {
        csr.targets[next] = ends.second;
        if (weighted_) csr.weights[next] = value.weight;
        if (timed_) csr.times[next] = value.time;
        ++next;
      }
    }
    for (std::uint64_t v = 0; v < vertices_; ++v) csr.offsets[v + 1] += csr.offsets[v];
    return csr;
  }

  std::uint64_t vertices_;
  bool directed_, weighted_, timed_;
  std::map<std::pair<Vertex, Vertex>, std::vector<EdgeValue>> edges_;
};

}  // namespace sluice::test

// Queries about edges, added in any order and evaluated by several threads. If the graph is in its file,
// queries are sorted by list, so that the file is read in order, once for many queries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/host_array.hpp"
#include "engine/exec/threads.hpp"
#include "partition/list_parts.hpp"

namespace sluice::apps {

struct EdgeQuery {
  Vertex source = 0, target = 0;
  EdgeIndex position = 0;
};

class EdgeQueries {
 public:
  /// Holds at least `min_capacity` queries, more if memory allows. Keeps a reference to the graph. Throws
  /// BudgetError.
  EdgeQueries(const Graph& graph, bool weights, std::uint64_t min_capacity, unsigned threads)
      : graph_(graph),
        weights_(weights && graph.weighted),
        threads_(threads),
        lists_(graph, weights),
        queries_(capacity(min_capacity), "checked edges") {
    const std::uint64_t ordered = in_file() ? queries_.size() : 0;
    order_ = HostArray<std::uint32_t>(ordered, "checked edges");
    begins_ = HostArray<std::uint32_t>(ordered, "checked edges");
    sources_ = HostArray<Vertex>(ordered, "checked edges");
    results_ = HostArray<std::uint8_t>(queries_.size(), "checked edges");
  }

  bool in_file() const { return graph_.edge_source != nullptr; }

  std::uint64_t size() const { return size_; }
  std::uint64_t capacity() const { return queries_.size(); }
  std::uint64_t remaining() const { return capacity() - size_; }
  void clear() { size_ = 0; }
  void add(const EdgeQuery& query) { queries_[size_++] = query; }
  /// The byte that evaluate() set for the i-th query.
  std::uint8_t operator[](std::uint64_t i) const { return results_[i]; }

  /// Calls check(query, part, byte) for every part of the list of query.source. The byte starts at 0,
  /// and stays 0 if `source` is not a vertex. Several threads call it, but only one for each query.
  template <class Check>
  void evaluate(Check&& check) {
    if (in_file()) return evaluate_in_file_order(check);
    parallel_blocks(threads_, size_, kQueriesPerBlock, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) evaluate_in_memory(i, check);
    });
  }

  ListParts& lists() { return lists_; }

 private:
  static constexpr std::uint64_t kMaxCapacity = 1u << 16, kMinCapacity = 1u << 10, kQueriesPerBlock = 1u << 9;

  template <class Check>
  void evaluate_in_memory(std::uint64_t i, Check&& check) {
    results_[i] = 0;
    const EdgeQuery& query = queries_[i];
    if (query.source >= graph_.vertices()) return;
    const EdgeIndex begin = graph_.out.offsets[query.source], end = graph_.out.offsets[query.source + 1ull];
    if (begin < end)
      check(query,
            ListParts::Part{begin, graph_.out.targets.span().subspan(begin, end - begin),
                            weights_ ? graph_.out.weights.data() + begin : nullptr},
            results_[i]);
  }

  template <class Check>
  void evaluate_in_file_order(Check&& check) {
    std::uint64_t count = 0, sources = 0;
    for (std::uint64_t i = 0; i < size_; ++i) {
      results_[i] = 0;
      if (queries_[i].source < graph_.vertices()) order_[count++] = static_cast<std::uint32_t>(i);
    }
    std::sort(order_.begin(), order_.begin() + count, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(queries_[a].source, a) < std::pair(queries_[b].source, b);
    });
    for (std::uint64_t i = 0; i < count; ++i) {
      const Vertex source = queries_[order_[i]].source;
      if (sources > 0 && sources_[sources - 1] == source) continue;
      begins_[sources] = static_cast<std::uint32_t>(i), sources_[sources++] = source;
    }
    lists_.for_each(sources_.span().first(sources), [&](std::size_t index, const ListParts::Part& part) {
      const std::uint64_t end = index + 1 < sources ? begins_[index + 1] : count;
      for (std::uint64_t i = begins_[index]; i < end; ++i)
        check(queries_[order_[i]], part, results_[order_[i]]);
    });
  }

  /// Takes a sixteenth of the remaining host memory.
  static std::uint64_t capacity(std::uint64_t min_capacity) {
    const std::uint64_t bytes = sizeof(EdgeQuery) + 2 * sizeof(std::uint32_t) + sizeof(Vertex) + 1;
    return std::max(min_capacity,
                    std::clamp(host_budget().available() / 16 / bytes, kMinCapacity, kMaxCapacity));
  }

  const Graph& graph_;
  bool weights_;
  unsigned threads_;
  ListParts lists_;
  HostArray<EdgeQuery> queries_;
  HostArray<std::uint32_t> order_, begins_;  ///< queries sorted by list, and where each list's begin
  HostArray<Vertex> sources_;                ///< the vertices of these lists
  HostArray<std::uint8_t> results_;
  std::uint64_t size_ = 0;
};

}  // namespace sluice::apps

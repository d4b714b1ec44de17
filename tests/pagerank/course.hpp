// A graph that changes, followed by ranks of a job and by one process, to compare both backends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/pagerank/dynamic/dynamic.hpp"
#include "pagerank/batch_support.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {

inline constexpr pagerank::RankMethod kFollowers[] = {
    pagerank::RankMethod::naive_dynamic, pagerank::RankMethod::dynamic_traversal,
    pagerank::RankMethod::dynamic_frontier, pagerank::RankMethod::pruned_frontier,
    pagerank::RankMethod::residual_frontier};

/// The results of some batches, equal on every rank, and the ranks of its vertices.
struct Followed {
  std::vector<double> ranks;
  std::vector<pagerank::DynamicRankResult> results;
};

/// A graph and its updates.
struct Course {
  Graph before;
  std::vector<UpdateResult> batches;
  std::vector<UpdateBatch> lines;  ///< the changes that the updates apply
};

inline Graph copy_of(const Graph& graph) {
  const auto copy = [](const auto& from, auto& to) {
    to = std::remove_reference_t<decltype(to)>(from.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  Graph same;
  for (const auto& [from, to] : {std::pair(&graph.out, &same.out), std::pair(&graph.in, &same.in)}) {
    copy(from->offsets, to->offsets), copy(from->targets, to->targets);
    copy(from->weights, to->weights);
  }
  same.directed = graph.directed, same.weighted = graph.weighted;
  same.edge_source = graph.edge_source, same.in_edge_source = graph.in_edge_source;
  return same;
}

inline Course course_of(Graph graph, std::size_t batch_size) {
  Course course;
  course.before = copy_of(graph);
  std::mt19937_64 random(37);
  for (std::size_t i = 0; i < 3; ++i) {
    const UpdateBatch batch =
        random_batch(random, graph, batch_size, graph.vertices() == 0 || i == 1 ? 3 : 0);
    course.batches.push_back(update_graph(std::move(graph), batch, 2));
    course.lines.push_back(batch);
    graph = copy_of(course.batches.back().graph);
  }
  return course;
}

/// The same course with edges that are read on demand, and changed as they are read.
inline Course course_elsewhere(const Course& course) {
  Course same;
  same.before = elsewhere(copy_of(course.before));
  for (std::size_t i = 0; i < course.lines.size(); ++i) {
    const Graph& last = i == 0 ? same.before : same.batches[i - 1].graph;
    same.batches.push_back(update_graph(copy_of(last), course.lines[i], 2));
  }
  return same;
}

/// Follows the course with changing methods, from `start`, the ranks of its first graph. `together`:
/// iterations may be fused.
inline Followed follow(const Device& device, const Course& course, const pagerank::Options& options,
                       const pagerank::Result& start, std::size_t first_method,
                       const pagerank::RankPlace& place, bool together = true) {
  pagerank::DynamicRanks ranks(device, course.before, start.ranks.span(), options, place);
  Followed followed;
  for (std::size_t i = 0; i < course.batches.size(); ++i) {
    const pagerank::RankMethod method = kFollowers[(first_method + (i == 2 ? 1 : 0)) % std::size(kFollowers)];
    pagerank::DynamicRankOptions dynamic{method, 1e-4, 1e-4};
    if (!together) dynamic.fusion = pagerank::RoundFusion::none;
    followed.results.push_back(ranks.follow(course.batches[i].graph, course.batches[i].changes, dynamic));
  }
  followed.ranks.resize(ranks.own_rows());
  ranks.read_ranks(followed.ranks);
  followed.ranks.insert(followed.ranks.begin(), ranks.first(), 0.0);  // at their positions
  return followed;
}

/// Expects that each rank did the work of one process, and that all together have its ranks.
inline void expect_same(const std::vector<Followed>& on_ranks, const Followed& alone) {
  std::vector<double> ranks(alone.ranks.size());
  for (const Followed& followed : on_ranks) {
    for (std::size_t i = 0; i < alone.results.size(); ++i)
      expect_same_work(followed.results[i], alone.results[i]);
    for (std::size_t v = 0; v < followed.ranks.size(); ++v)
      if (followed.ranks[v] != 0) ranks[v] = followed.ranks[v];
  }
  EXPECT_EQ(ranks, alone.ranks);
}

}  // namespace sluice::test

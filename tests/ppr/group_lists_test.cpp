// A query by a group of threads whose lists arrive while it is repeated. It gives the result of one thread,
// and requests only lists that it needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ppr/group_support.hpp"

namespace sluice::test {
namespace {

/// Lists that arrive after a query noted that they are missing, in columns of their own.
class ListsThatCome {
 public:
  ListsThatCome(const Graph& graph, const ppr::QueryRules& whole)
      : graph_(graph), rules_(whole), totals_(graph.vertices()), wanted_((graph.vertices() + 63) / 64) {
    clear();
  }

  const ppr::QueryRules& rules() {
    rules_.positions = places_.data(), rules_.wanted = wanted_.data();
    rules_.graph.targets = targets_.data(), rules_.graph.weights = weights_.data();
    if (rules_.totals != nullptr) rules_.totals = totals_.data();
    return rules_;
  }
  /// Adds the lists that are noted; a present list must not be noted.
  std::size_t bring() {
    std::size_t brought = 0;
    for (Vertex v = static_cast<Vertex>(graph_.vertices()); v-- > 0;) {
      if ((wanted_[v / 64] >> (v % 64) & 1) == 0) continue;
      EXPECT_EQ(places_[v], ppr::kNoPosition) << v;
      places_[v] = targets_.size();
      totals_[v] = 0;
      for (EdgeIndex e = graph_.out.offsets[v]; e < graph_.out.offsets[v + 1]; ++e) {
        targets_.push_back(graph_.out.targets[e]);
        weights_.push_back(graph_.weighted ? graph_.out.weights[e] : 1);
        totals_[v] += static_cast<double>(weights_.back());
      }
      ++brought;
    }
    std::ranges::fill(wanted_, 0);
    return brought;
  }
  std::size_t edges() const { return targets_.size(); }
  void clear() {
    places_.assign(graph_.vertices(), ppr::kNoPosition);
    targets_.clear(), weights_.clear();
  }

 private:
  const Graph& graph_;
  ppr::QueryRules rules_;
  std::vector<EdgeIndex> places_;
  std::vector<double> totals_;
  std::vector<std::uint64_t> wanted_;
  std::vector<Vertex> targets_;
  std::vector<float> weights_;
};

/// Repeats a query until no list is missing. Returns the number of attempts.
template <class Ask>
std::size_t ask_until_answered(ListsThatCome& lists, const Space& space, const Expected& expected,
                               Ask&& ask) {
  for (std::size_t asked = 1;; ++asked) {
    const Listed listed = ask(lists.rules());
    EXPECT_TRUE(space.is_clear());
    if (listed.figures.missing_lists == 0) {
      EXPECT_EQ(lists.bring(), 0u);
      expect_same(listed, expected);
      return asked;
    }
    EXPECT_NE(listed.figures.abandoned, 0u);
    const std::size_t brought = lists.bring();
    EXPECT_GT(brought, 0u);
    EXPECT_LE(brought, listed.figures.missing_lists);
    if (brought == 0) return asked;
  }
}

/// Methods that request lists: walks have all lists, or run where the lists are.
std::vector<ppr::Options> that_ask_for_lists(std::vector<ppr::Options> methods) {
  std::erase_if(methods, [](const ppr::Options& options) { return options.method == ppr::Method::walks; });
  return methods;
}

TEST(GroupQuery, IsAskedAgainUntilItsListsHaveCome) {
  for (const auto& [name, graph] : rank_graphs()) {
    if (graph.vertices() > 2000) continue;
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::WorkspaceShape::of(n, n, n, 3));
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 1);
    const auto compare = [&]<template <class> class Query>(std::vector<ppr::Options> methods) {
      for (ppr::Options& options : methods) {
        options.tolerance = 1e-3;
        for (const bool weighted : {false, true}) {
          options.weighted = weighted;
          ListsThatCome lists(graph, rules.of(options));
          for (const auto& of_query : queries) {
            const ppr::Seeds seeds = seeds_of(graph, of_query);
            const Expected expected(graph, options, seeds);
            const auto ask = [&](const ppr::QueryRules& own) {
              return answer_alone<Query>(space, own, seeds);
            };
            ask_until_answered(lists, space, expected, ask);
            EXPECT_EQ(ask_until_answered(lists, space, expected, ask), 1u);  // all lists are present now
          }
        }
      }
    };
    compare.template operator()<ppr::GroupQuery>(that_ask_for_lists(group_methods()));
    compare.template operator()<ppr::GroupOneByOne>(one_by_one_methods());
  }
}

TEST(GroupQuery, AsksForAListARoundAndForNoneWithoutMass) {
  const Graph path = stat::make_graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, false);
  HostRules rules(path);
  ppr::Options options;
  options.length = 3;
  const ppr::Seeds seeds = seeds_of(path, {{0, 1}});
  const Space space(ppr::WorkspaceShape::of(6, 6, 0));
  ListsThatCome lists(path, rules.of(options));
  const auto ask = [&](const ppr::QueryRules& own) { return answer_alone(space, own, seeds); };

  EXPECT_EQ(ask_until_answered(lists, space, Expected(path, options, seeds), ask), 4u);
  EXPECT_EQ(lists.edges(), 3u);

  options.alpha = 1e-30;  // no mass is left for an edge
  options.length = 2;
  ListsThatCome none(path, rules.of(options));
  EXPECT_EQ(ask_until_answered(none, space, Expected(path, options, seeds), ask), 1u);
}

TEST(GroupQuery, LacksListsInThreadsThatMeet) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space together(ppr::WorkspaceShape::of(128, 128, 0)),
      one_by_one(ppr::WorkspaceShape::of(128, 128, 128, 3));
  for (const ppr::Options& options : that_ask_for_lists(short_methods())) {
    ListsThatCome lists(graph, rules.of(options));
    ask_until_answered(lists, together, Expected(graph, options, seeds),
                       [&](const ppr::QueryRules& own) { return answer_together(together, own, seeds); });
  }
  ppr::Options options = one_by_one_methods().front();
  ListsThatCome lists(graph, rules.of(options));
  ask_until_answered(lists, one_by_one, Expected(graph, options, seeds), [&](const ppr::QueryRules& own) {
    return answer_together<ppr::GroupOneByOne>(one_by_one, own, seeds);
  });
}

}  // namespace
}  // namespace sluice::test

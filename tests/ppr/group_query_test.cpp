// A query by a group of threads is the query by one, to the bit: its scores, its list and its figures, in a
// room of any size. Groups of several threads here are what a block is on a GPU.
#include "engine/ppr/methods/group_query.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>

#include "engine/exec/group.hpp"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

/// Threads that meet at a barrier.
class ThreadGroup {
 public:
  static constexpr unsigned kSize = 2;

  struct Room {
    std::barrier<> barrier{kSize};
    std::uint64_t lanes[kSize] = {};
  };

  ThreadGroup(Room& room, unsigned rank) : room_(&room), rank_(rank) {}

  unsigned rank() const { return rank_; }
  void sync() const { room_->barrier.arrive_and_wait(); }
  template <class T>
  T broadcast(T value, unsigned from) const {
    return exchange(value, [from](const std::uint64_t* lanes) { return lanes[from]; });
  }
  template <class T>
  T sum(T value) const {
    return exchange(value, [](const std::uint64_t* lanes) { return added(lanes, kSize); });
  }
  template <class T>
  T inclusive_scan(T value) const {
    return exchange(value, [this](const std::uint64_t* lanes) { return added(lanes, rank_ + 1); });
  }

 private:
  static std::uint64_t added(const std::uint64_t* lanes, unsigned count) {
    std::uint64_t sum = 0;
    for (unsigned lane = 0; lane < count; ++lane) sum += lanes[lane];
    return sum;
  }
  template <class T, class Use>
  T exchange(T value, Use&& use) const {
    room_->lanes[rank_] = value;
    sync();
    const T result = static_cast<T>(use(room_->lanes));
    sync();
    return result;
  }

  Room* room_;
  unsigned rank_;
};

constexpr Instance kQuery = 11;

struct Listed {
  ppr::GroupFigures figures;
  std::vector<Vertex> vertices;
  std::vector<double> scores;
};

/// The room's memory, as a group finds it and leaves it.
class Space {
 public:
  explicit Space(const ppr::RoomShape& shape)
      : memory_(shape.bytes() / sizeof(ppr::RoomEntry)),
        view_(shape.view(reinterpret_cast<unsigned char*>(memory_.data()))) {}
  const ppr::RoomView& view() const { return view_; }
  bool is_clear() const {
    return is_clear(view_) && (view_.second == 0 || is_clear(ppr::RoomShape::move(view_, view_.second)));
  }

 private:
  static bool is_clear(const ppr::RoomView& room) {
    return std::all_of(room.entries, room.entries + room.slots, [](const ppr::RoomEntry& entry) {
      return entry.vertex == kNoVertex && entry.score == 0 && entry.waiting == 0;
    });
  }

  std::vector<ppr::RoomEntry> memory_;
  ppr::RoomView view_;
};

template <class Query, class Group>
void answer(const Group& group, typename Query::Shared& shared, const Space& space,
            const ppr::QueryRules& rules, const ppr::Seeds& seeds, Listed& listed) {
  Query query(group, shared, space.view(), rules, seeds.view(), kQuery);
  const ppr::GroupFigures figures = query.solve();
  if (figures.abandoned == 0) query.write_top(listed.vertices.data(), listed.scores.data());
  query.clear();
  if (group.rank() == 0) listed.figures = figures;
}

template <template <class> class Query = ppr::GroupQuery>
Listed answer_alone(const Space& space, const ppr::QueryRules& rules, const ppr::Seeds& seeds) {
  Listed listed{{}, std::vector<Vertex>(rules.top), std::vector<double>(rules.top)};
  const auto shared = std::make_unique<typename Query<SingleLane>::Shared>();
  answer<Query<SingleLane>>(SingleLane{}, *shared, space, rules, seeds, listed);
  return listed;
}

template <template <class> class Query = ppr::GroupQuery>
Listed answer_together(const Space& space, const ppr::QueryRules& rules, const ppr::Seeds& seeds) {
  Listed listed{{}, std::vector<Vertex>(rules.top), std::vector<double>(rules.top)};
  ThreadGroup::Room room;
  const auto shared = std::make_unique<typename Query<ThreadGroup>::Shared>();
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < ThreadGroup::kSize; ++rank) {
    threads.emplace_back([&, rank] {
      answer<Query<ThreadGroup>>(ThreadGroup(room, rank), *shared, space, rules, seeds, listed);
    });
  }
  threads.clear();
  return listed;
}

/// What one thread finds.
struct Expected {
  Expected(const Graph& graph, const ppr::Options& given, const ppr::Seeds& seeds)
      : options(given), vertices(options.top), scores(options.top) {
    const Device device({DeviceChoice::host, 1, 0});
    ppr::QuerySolver solver(device, graph.out.view(), options);
    figures = solver.solve(seeds, kQuery);
    solver.write_top(vertices, scores);
  }
  ppr::Options options;
  ppr::QueryFigures figures;
  std::vector<Vertex> vertices;
  std::vector<double> scores;
};

void expect_same(const Listed& listed, const Expected& expected) {
  ASSERT_EQ(listed.figures.abandoned, 0u);
  EXPECT_EQ(listed.vertices, expected.vertices);
  EXPECT_EQ(listed.scores, expected.scores);
  const ppr::QueryFigures figures = figures_of(listed.figures, expected.options);
  EXPECT_EQ(figures.error, expected.figures.error);
  EXPECT_EQ(figures.held, expected.figures.held);
  EXPECT_EQ(figures.edges, expected.figures.edges);
  EXPECT_EQ(figures.reached, expected.figures.reached);
}

ppr::Seeds seeds_of(const Graph& graph, const WeightedSeeds& of_query) {
  ppr::Seeds seeds;
  seeds.assign(starts_of({of_query}), graph.vertices(), 1, 0);
  return seeds;
}

/// The rules of a graph in host memory.
class HostRules {
 public:
  explicit HostRules(const Graph& graph) : graph_(graph) {
    if (graph.weighted) totals_ = ppr::weight_totals(graph.out.view(), 1);
  }
  ppr::QueryRules of(const ppr::Options& options) {
    stages_ = stages_of(options);
    ppr::QueryRules rules = rules_of(options);
    rules.graph = graph_.out.view();
    rules.totals = options.weighted ? totals_.data() : nullptr;
    rules.stages = stages_.data();
    return rules;
  }

 private:
  const Graph& graph_;
  HostArray<double> totals_;
  std::vector<std::uint32_t> stages_;
};

TEST(GroupQuery, IsThatOfOneThreadToTheBit) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::RoomShape::of(1u << 9, n, 0)), roomy(ppr::RoomShape::of(n, n, 0));
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 2);
    for (ppr::Options options : group_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        for (const auto& of_query : queries) {
          const ppr::Seeds seeds = seeds_of(graph, of_query);
          const Expected expected(graph, options, seeds);
          const bool fits = expected.figures.reached <= space.view().limit;
          expect_same(answer_alone(fits ? space : roomy, rules.of(options), seeds), expected);
        }
      }
    }
    EXPECT_TRUE(space.is_clear() && roomy.is_clear());
  }
}

/// Few rounds, for each has barriers, and these threads may share a core.
std::vector<ppr::Options> short_methods() {
  std::vector<ppr::Options> all = group_methods();
  for (ppr::Options& options : all) {
    options.tolerance = 0.2;
    options.residual_threshold = options.residual_threshold > 0 ? 1e-3 : 0;
    options.weighted = true;
  }
  return all;
}

/// Lists that come as a query notes that it misses them, in columns of their own.
class ListsThatCome {
 public:
  ListsThatCome(const Graph& graph, const ppr::QueryRules& whole)
      : graph_(graph), rules_(whole), totals_(graph.vertices()), wanted_((graph.vertices() + 63) / 64) {
    clear();
  }

  const ppr::QueryRules& rules() {
    rules_.places = places_.data(), rules_.wanted = wanted_.data();
    rules_.graph.targets = targets_.data(), rules_.graph.weights = weights_.data();
    if (rules_.totals != nullptr) rules_.totals = totals_.data();
    return rules_;
  }
  /// Of those that are noted; one that is here is not.
  std::size_t bring() {
    std::size_t brought = 0;
    for (Vertex v = static_cast<Vertex>(graph_.vertices()); v-- > 0;) {
      if ((wanted_[v / 64] >> (v % 64) & 1) == 0) continue;
      EXPECT_EQ(places_[v], ppr::kNoPlace) << v;
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
    places_.assign(graph_.vertices(), ppr::kNoPlace);
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

/// Asks until nothing is missing; how often that is.
template <class Ask>
std::size_t ask_until_answered(ListsThatCome& lists, const Space& space, const Expected& expected,
                               Ask&& ask) {
  for (std::size_t asked = 1;; ++asked) {
    const Listed listed = ask(lists.rules());
    EXPECT_TRUE(space.is_clear());
    if (listed.figures.lacking == 0) {
      EXPECT_EQ(lists.bring(), 0u);
      expect_same(listed, expected);
      return asked;
    }
    EXPECT_NE(listed.figures.abandoned, 0u);
    const std::size_t brought = lists.bring();
    EXPECT_GT(brought, 0u);
    EXPECT_LE(brought, listed.figures.lacking);
    if (brought == 0) return asked;
  }
}

TEST(GroupQuery, IsAskedAgainUntilItsListsHaveCome) {
  for (const auto& [name, graph] : rank_graphs()) {
    if (graph.vertices() > 2000) continue;
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::RoomShape::of(n, n, n, 3));
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
            EXPECT_EQ(ask_until_answered(lists, space, expected, ask), 1u);  // now all of them are here
          }
        }
      }
    };
    compare.template operator()<ppr::GroupQuery>(group_methods());
    compare.template operator()<ppr::GroupOneByOne>(one_by_one_methods());
  }
}

TEST(GroupQuery, AsksForAListARoundAndForNoneWithoutMass) {
  const Graph path = stat::make_graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, false);
  HostRules rules(path);
  ppr::Options options;
  options.length = 3;
  const ppr::Seeds seeds = seeds_of(path, {{0, 1}});
  const Space space(ppr::RoomShape::of(6, 6, 0));
  ListsThatCome lists(path, rules.of(options));
  const auto ask = [&](const ppr::QueryRules& own) { return answer_alone(space, own, seeds); };

  EXPECT_EQ(ask_until_answered(lists, space, Expected(path, options, seeds), ask), 4u);
  EXPECT_EQ(lists.edges(), 3u);

  options.alpha = 1e-30;  // nothing is left for an edge
  options.length = 2;
  ListsThatCome none(path, rules.of(options));
  EXPECT_EQ(ask_until_answered(none, space, Expected(path, options, seeds), ask), 1u);
}

TEST(GroupQuery, LacksListsInThreadsThatMeet) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space together(ppr::RoomShape::of(128, 128, 0)), one_by_one(ppr::RoomShape::of(128, 128, 128, 3));
  for (const ppr::Options& options : short_methods()) {
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

TEST(GroupQuery, IsTheSameForThreadsThatMeetInOneTable) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space small(ppr::RoomShape::of(32, 128, 0)), all(ppr::RoomShape::of(128, 128, 0));
  for (const ppr::Options& options : short_methods()) {
    const Expected expected(graph, options, seeds);
    expect_same(answer_together(all, rules.of(options), seeds), expected);
    EXPECT_TRUE(all.is_clear());
  }
  EXPECT_NE(answer_together(small, rules.of(group_methods().front()), seeds).figures.abandoned, 0u);
  EXPECT_TRUE(small.is_clear());
}

TEST(GroupOneByOne, IsThatOfOneThreadToTheBit) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    HostRules rules(graph);
    const std::uint64_t n = graph.vertices();
    const Space space(ppr::RoomShape::of(1u << 9, n, n, 3)), roomy(ppr::RoomShape::of(n, n, n, 3));
    auto queries = queries_of(graph);
    queries.erase(queries.begin() + 1, queries.end() - 2);
    for (ppr::Options options : one_by_one_methods()) {
      for (const bool weighted : {false, true}) {
        options.weighted = weighted;
        for (const auto& of_query : queries) {
          const ppr::Seeds seeds = seeds_of(graph, of_query);
          const Expected expected(graph, options, seeds);
          const Listed found = answer_alone<ppr::GroupOneByOne>(space, rules.of(options), seeds);
          if (found.figures.abandoned == 0) expect_same(found, expected);
          expect_same(answer_alone<ppr::GroupOneByOne>(roomy, rules.of(options), seeds), expected);
        }
      }
    }
    EXPECT_TRUE(space.is_clear() && roomy.is_clear());
  }
}

TEST(GroupOneByOne, IsTheSameForThreadsThatMeetInTwoTables) {
  const Graph graph = generated(io::GraphKind::kronecker, 7, true, io::WeightRule::uniform);
  HostRules rules(graph);
  const ppr::Seeds seeds = seeds_of(graph, queries_of(graph).back());
  const Space small(ppr::RoomShape::of(32, 128, 128, 3)), all(ppr::RoomShape::of(128, 128, 128, 3));
  for (ppr::Options options : one_by_one_methods()) {
    options.weighted = true;
    const Expected expected(graph, options, seeds);
    expect_same(answer_together<ppr::GroupOneByOne>(all, rules.of(options), seeds), expected);
    EXPECT_TRUE(all.is_clear());
  }
  EXPECT_NE(answer_together<ppr::GroupOneByOne>(small, rules.of(one_by_one_methods().front()), seeds)
                .figures.abandoned,
            0u);
  EXPECT_TRUE(small.is_clear());
}

TEST(GroupOneByOne, MakesATableThatHashesAnew) {
  const Graph graph = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
  HostRules rules(graph);
  ppr::Options options = one_by_one_methods().front();
  options.expand = 0.5;
  options.table = 4;
  const ppr::Seeds seeds = seeds_of(graph, {{2017, 1}});
  const Space space(ppr::RoomShape::of(128, graph.vertices(), graph.vertices(), 3));
  ASSERT_NE(space.view().mask, 0u);
  const Expected expected(graph, options, seeds);
  const Listed found = answer_alone<ppr::GroupOneByOne>(space, rules.of(options), seeds);
  expect_same(found, expected);
  EXPECT_LE(found.figures.reached, 20u);
  options.table = 0;
  EXPECT_GT(Expected(graph, options, seeds).figures.reached, 40u);
}

TEST(GroupQuery, ReachesEverythingInARoomForAll) {
  // Where all lanes want the last slot at once, none of them must take the room for full.
  const Graph graph = stat::make_graph(2, {{0, 1}, {0, 1}, {0, 1}, {1, 0}}, false);
  HostRules rules(graph);
  ppr::Options options;
  options.length = 1;
  options.top = 2;
  const ppr::Seeds seeds = seeds_of(graph, {{0, 1}});
  const Expected expected(graph, options, seeds);
  const Space all(ppr::RoomShape::of(2, 2, 0));
  for (int repetition = 0; repetition < 20; ++repetition)
    expect_same(answer_together(all, rules.of(options), seeds), expected);
}

TEST(GroupQuery, SortsListsThatDoNotFitTheSharedMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  HostRules rules(graph);
  ppr::Options options;
  options.tolerance = 1e-4;
  for (const std::uint32_t top : {1u, 511u, 513u, 5000u}) {
    options.top = top;
    const Space space(ppr::RoomShape::of(1u << 10, graph.vertices(), top));
    const ppr::Seeds seeds = seeds_of(graph, {{17, 1}});
    const Expected expected(graph, options, seeds);
    expect_same(answer_alone(space, rules.of(options), seeds), expected);
  }
}

}  // namespace
}  // namespace sluice::test

// A step with a fake table and fake samplers: the round in which each proposal ends, and the walker's next
// vertex.
#include "engine/walks/step.hpp"

#include <gtest/gtest.h>

#include "statistical/graphs.hpp"
#include "walks/last_entry.hpp"

namespace sluice::walks {
namespace {

/// 0 -> 1, 2; 1 -> 0; vertex 2 has no edges.
const Graph& graph() {
  static const Graph made = stat::make_graph(3, {{0, 1}, {0, 2}, {1, 0}}, false);
  return made;
}
GraphView view() {
  return {{3, 3, graph().out.offsets.data(), graph().out.targets.data(), nullptr}};
}

struct Plain {
  static constexpr BiasClass kBias = BiasClass::uniform;
};
/// Redirects to vertex 1 from dead ends and from vertex 1 itself.
struct Redirected : Plain {
  Vertex redirect(const GraphView&, const Walker& walker, const PhiloxBlock&, bool dead_end) const {
    return dead_end || walker.current == 1 ? 1 : kNoVertex;
  }
};
/// Stays if the edge's target has a longer list; otherwise moves to vertex 2.
struct Updated : Plain {
  Vertex update(const GraphView&, const Walker& walker, const Edge& edge, EdgeDegrees degrees,
                std::uint64_t) const {
    EXPECT_EQ(degrees.source, walker.row.degree);
    EXPECT_EQ(edge.source, walker.current);
    return degrees.target > degrees.source ? edge.source : 2;
  }
};
/// Accepts edges to the wanted vertex, and edges to out-neighbours of vertex 1: each proposal asks for that.
struct Wanting {
  static constexpr BiasClass kBias = BiasClass::dynamic;
  Vertex wanted = 0;

  std::uint64_t dynamic_bias(const GraphView&, const Walker&, const Edge& edge, bool answer) const {
    return edge.target == wanted || answer ? 1 : 0;
  }
  Question question(const Walker&, const Edge& edge) const { return {1, edge.target}; }
  std::uint64_t bias_bound() const { return 1; }
};
/// Gives the same answer to every question.
struct Answers {
  Answer answer;
  Answer has_edge(const GraphView&, Vertex from, Vertex) const {
    EXPECT_EQ(from, 1u);
    return answer;
  }
};

template <class Sampler, Acceptance kAcceptance = Acceptance::always>
WalkProgram<Sampler, LastEntry, kAcceptance> program(const Sampler& sampler = {}) {
  return {view(), sampler, {}};
}
Walker at(Vertex v) {
  Walker walker;
  walker.start = walker.current = v, walker.row = view().row(v);
  return walker;
}
template <class Program, class Lists = Whole>
Round step(const Program& program, Walker& walker, const Lists& lists = {}) {
  Proposal proposal;
  program.propose(walker, proposal);
  return program.settle(walker, proposal, lists);
}

TEST(WalkStep, MovesToTheProposedTarget) {
  Walker walker = at(0);
  walker.trial = 5;

  EXPECT_EQ(step(program<Plain>(), walker), Round::moved);

  EXPECT_EQ(walker.current, 2u);
  EXPECT_EQ(walker.previous, 0u);
  EXPECT_EQ(walker.row.degree, 0u);
  EXPECT_EQ(walker.step, 1u);
  EXPECT_EQ(walker.trial, 0u);
}

TEST(WalkStep, EndsWhereThereIsNoList) {
  Walker walker = at(2);

  EXPECT_EQ(step(program<Plain>(), walker), Round::ended);

  EXPECT_EQ(walker.current, 2u);
  EXPECT_EQ(walker.step, 0u);
}

TEST(WalkStep, RedirectsFromDeadEndsAndWhereTheSamplerSaysSo) {
  Walker walker = at(2);

  EXPECT_EQ(step(program<Redirected>(), walker), Round::moved);
  EXPECT_EQ(walker.current, 1u);
  EXPECT_EQ(walker.row.degree, 1u);
  EXPECT_EQ(step(program<Redirected>(), walker), Round::moved);
  EXPECT_EQ(walker.current, 1u) << "not along its edge";
  walker = at(0);
  EXPECT_EQ(step(program<Redirected>(), walker), Round::moved);
  EXPECT_EQ(walker.current, 2u) << "along its edge";
}

TEST(WalkStep, UpdateSaysWhereASelectedEdgeLeads) {
  Walker walker = at(1);

  EXPECT_EQ(step(program<Updated>(), walker), Round::moved);
  EXPECT_EQ(walker.current, 1u) << "stays";
  EXPECT_EQ(walker.row.degree, 1u);
  EXPECT_EQ(walker.step, 1u);
  walker = at(0);
  EXPECT_EQ(step(program<Updated>(), walker), Round::moved);
  EXPECT_EQ(walker.current, 2u);
  EXPECT_EQ(walker.row.offset, 3u);
}

TEST(WalkStep, RejectsTrialAfterTrialAndThenScans) {
  const auto wants = program<Wanting, Acceptance::dynamic>({.wanted = 1});
  Walker walker = at(0);

  for (std::uint32_t trial = 1; trial < kMaxTrials; ++trial) {
    ASSERT_EQ(step(wants, walker), Round::rejected);
    ASSERT_EQ(walker.trial, trial);
  }
  EXPECT_EQ(step(wants, walker), Round::scan);
  EXPECT_EQ(walker.step, 0u);
  EXPECT_EQ(wants.transform_list(SingleLane{}, walker), Round::moved);
  EXPECT_EQ(walker.current, 1u) << "the one entry of positive bias";
  EXPECT_EQ(walker.trial, 0u);
}

TEST(WalkStep, AcceptsByTheAnswerOfAnotherList) {
  const auto wants = program<Wanting, Acceptance::dynamic>({.wanted = 1});
  Walker walker = at(0);

  EXPECT_EQ(step(wants, walker, Answers{Answer::no}), Round::rejected);
  EXPECT_EQ(step(wants, walker, Answers{Answer::yes}), Round::moved);
  EXPECT_EQ(walker.current, 2u);
}

TEST(WalkStep, ProposalStandsWhereTheAskedListIsAbsent) {
  const auto wants = program<Wanting, Acceptance::dynamic>({.wanted = 2});
  Walker walker = at(0);
  Proposal proposal;
  wants.propose(walker, proposal);

  EXPECT_EQ(wants.settle(walker, proposal, Answers{Answer::unknown}), Round::absent);

  EXPECT_EQ(walker.trial, 0u);
  EXPECT_EQ(proposal.hop.target, 2u);
  EXPECT_EQ(wants.accept_or_reject(walker, proposal, Answers{Answer::no}), Round::moved);
  EXPECT_EQ(walker.current, 2u);
}

TEST(WalkStep, TransformScansEveryListAndEndsWhereNoBiasIsPositive) {
  const auto scans = program<Wanting, Acceptance::transform>({.wanted = 7});
  Walker walker = at(0);

  EXPECT_EQ(step(scans, walker), Round::scan);
  EXPECT_EQ(scans.transform_list(SingleLane{}, walker, Answers{Answer::no}), Round::ended);
  walker = at(2);
  EXPECT_EQ(step(scans, walker), Round::ended) << "no list";
}

TEST(WalkStep, CountsWhatAProposalLooksAt) {
  const Row row{0, 7};

  EXPECT_EQ((decltype(program<Plain>())::draw_bytes(row)), 107u);
  EXPECT_EQ((WalkProgram<Plain, LastEntry, Acceptance::fixed>::draw_bytes(row)), 107u + kWeightBytes);
  EXPECT_EQ((WalkProgram<Wanting, LastEntry, Acceptance::transform>::draw_bytes(row)), 0u);
}

}  // namespace
}  // namespace sluice::walks

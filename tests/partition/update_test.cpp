#include "partition/update.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "engine/core/error.hpp"
#include "tests/partition/elsewhere.hpp"
#include "tests/partition/update_oracle.hpp"

namespace sluice {
namespace {

using test::UpdateOracle;

template <class T>
std::vector<T> values(const HostArray<T>& array) {
  return {array.begin(), array.end()};
}

void expect_equal(const Csr& rows, const Csr& expected) {
  EXPECT_EQ(values(rows.offsets), values(expected.offsets));
  EXPECT_EQ(values(rows.targets), values(expected.targets));
  EXPECT_EQ(values(rows.weights), values(expected.weights));
  EXPECT_EQ(values(rows.times), values(expected.times));
}

void expect_equal(const UpdateCounts& counts, const UpdateCounts& expected) {
  EXPECT_EQ(counts.inserted, expected.inserted);
  EXPECT_EQ(counts.present, expected.present);
  EXPECT_EQ(counts.deleted, expected.deleted);
  EXPECT_EQ(counts.missing, expected.missing);
  EXPECT_EQ(counts.new_vertices, expected.new_vertices);
}

/// Expects that packed changes equal the unpacked ones.
void expect_packed(const EdgeChanges& changes) {
  const PackedChanges& packed = changes.packed();
  ASSERT_EQ(packed.count, changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const PackedBlock& block = packed.blocks()[i / kPackedChanges];
    const EdgeChange found = unpack_change(block, packed.words() + block.word, i % kPackedChanges).change;
    EXPECT_EQ(std::tie(found.source, found.target, found.removed, found.inserted),
              std::tie(changes[i].source, changes[i].target, changes[i].removed, changes[i].inserted));
  }
}

EdgeColumns edges(const std::vector<std::pair<Vertex, Vertex>>& pairs) {
  EdgeColumns columns;
  for (const auto& [u, v] : pairs) columns.source.push_back(u), columns.target.push_back(v);
  return columns;
}

EdgeColumns random_edges(std::mt19937_64& random, std::size_t size, std::uint64_t vertices) {
  EdgeColumns columns;
  std::uniform_int_distribution<std::uint64_t> vertex(0, vertices - 1);
  for (std::size_t i = 0; i < size; ++i) {
    // Products favour small ids, which become hubs.
    columns.source.push_back(static_cast<Vertex>(vertex(random) * vertex(random) / vertices));
    columns.target.push_back(static_cast<Vertex>(vertex(random)));
    columns.weight.push_back(static_cast<float>(random() % 1000) / 8);
    columns.time.push_back(static_cast<std::int64_t>(random() % 1000));
  }
  return columns;
}

struct Form {
  bool directed, weighted, timed, with_in;
};

void PrintTo(const Form& form, std::ostream* out) {
  *out << (form.directed ? "directed" : "undirected") << (form.weighted ? ", weighted" : "")
       << (form.timed ? ", timed" : "") << (form.with_in ? ", with in-edges" : "");
}

/// Memory of another owner, which is not zero.
class OtherMemory final : public HostMemory {
 public:
  Block allocate(std::uint64_t bytes, const char*) override {
    auto block = std::make_shared<std::vector<std::uint64_t>>(bytes / 8 + 1, ~std::uint64_t{0});
    ++given;
    return {block, block->data(), 0};
  }
  int given = 0;
};

class UpdateForms : public ::testing::TestWithParam<Form> {};

TEST_P(UpdateForms, EqualsASetOfEdgesAfterEveryRandomBatch) {
  const Form form = GetParam();
  std::mt19937_64 random(7);
  UpdateOracle oracle(40, form.directed, form.weighted, form.timed);
  UpdateBatch first;  // an edge, so that the graph shows whether it has times
  first.insertions = random_edges(random, 1, 40);
  oracle.apply(first);
  Graph graph = oracle.graph(form.with_in);
  OtherMemory memory;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    UpdateBatch batch;
    // Some ids are beyond the graph's, which makes gaps and vertices without edges.
    batch.insertions = random_edges(random, random() % 80, 40 + 2 * static_cast<std::uint64_t>(round));
    batch.deletions = random_edges(random, random() % 20, 200);
    for (const auto& [u, v] : oracle.pairs()) {
      if (random() % 8 == 0) batch.deletions.source.push_back(u), batch.deletions.target.push_back(v);
    }

    const UpdateCounts expected = oracle.apply(batch);
    UpdateResult result = update_graph(std::move(graph), batch, 1 + static_cast<unsigned>(round) % 3,
                                       round % 2 == 0 ? &memory : nullptr);

    expect_equal(result.counts, expected);
    graph = std::move(result.graph);
    const Graph wanted = oracle.graph(form.with_in);
    expect_equal(graph.out, wanted.out);
    expect_equal(graph.in, wanted.in);
    expect_packed(result.changes);
    if (HasFailure()) return;
  }
  EXPECT_GE(memory.given, 10);
}

TEST_P(UpdateForms, IsTheSameWhereTheEdgesStayElsewhere) {
  const Form form = GetParam();
  for (const std::uint64_t piece : {1u, 7u, 100000u}) {
    SCOPED_TRACE(piece);
    std::mt19937_64 random(11);
    UpdateOracle oracle(60, form.directed, form.weighted, form.timed);
    UpdateBatch first;
    first.insertions = random_edges(random, 300, 60);
    oracle.apply(first);
    Graph whole = oracle.graph(form.with_in), parted = test::elsewhere(oracle.graph(form.with_in));
    for (int round = 0; round < 12; ++round) {  // each batch changes the last one's graph
      SCOPED_TRACE(round);
      UpdateBatch batch;
      const std::size_t size = round == 5 ? 0 : random() % 60;
      batch.insertions = random_edges(random, size, 60 + 3 * static_cast<std::uint64_t>(round));
      if (round != 5) batch.deletions = random_edges(random, random() % 20, 90);
      for (const auto& [u, v] : oracle.pairs()) {
        // Round 8 deletes every edge.
        if (round == 8 || (round != 5 && random() % 6 == 0))
          batch.deletions.source.push_back(u), batch.deletions.target.push_back(v);
      }
      const UpdateCounts counts = oracle.apply(batch);

      UpdateResult expected = update_graph(std::move(whole), batch, 2);
      UpdateResult result = update_graph(std::move(parted), batch, 2);

      expect_equal(result.counts, counts);
      ASSERT_EQ(result.changes.size(), expected.changes.size());
      for (std::size_t i = 0; i < result.changes.size(); ++i) {
        const EdgeChange &change = result.changes[i], &wanted = expected.changes[i];
        EXPECT_EQ(std::tie(change.source, change.target, change.removed, change.inserted),
                  std::tie(wanted.source, wanted.target, wanted.removed, wanted.inserted));
      }
      whole = std::move(expected.graph), parted = std::move(result.graph);
      EXPECT_TRUE(parted.out.targets.empty());
      expect_equal(test::read_back(parted.out, parted.edge_source.get(), form.weighted, piece),
                   oracle.graph(form.with_in).out);
      if (form.with_in) {
        expect_equal(test::read_back(parted.in, parted.in_edge_source.get(), form.weighted, piece),
                     oracle.graph(true).in);
      }
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UpdateForms,
                         ::testing::Values(Form{true, false, false, false}, Form{true, false, false, true},
                                           Form{true, true, false, true}, Form{true, false, true, true},
                                           Form{true, true, true, true}, Form{false, false, false, false},
                                           Form{false, true, false, true}, Form{false, false, true, true}));

TEST(Update, CopiesListsThatSpanManyBlocks) {
  std::mt19937_64 random(11);
  UpdateOracle oracle(30000, true, false, false);
  UpdateBatch first;
  first.insertions = random_edges(random, 300000, 30000);
  oracle.apply(first);
  UpdateBatch batch;
  batch.insertions = random_edges(random, 10000, 31000);
  batch.deletions = random_edges(random, 10000, 30000);
  for (const auto& [u, v] : oracle.pairs()) {
    if (random() % 50 == 0) batch.deletions.source.push_back(u), batch.deletions.target.push_back(v);
  }
  Graph before = oracle.graph(true);
  const UpdateCounts expected = oracle.apply(batch);

  const UpdateResult result = update_graph(std::move(before), batch, 3);

  expect_equal(result.counts, expected);
  const Graph wanted = oracle.graph(true);
  expect_equal(result.graph.out, wanted.out);
  expect_equal(result.graph.in, wanted.in);
}

Graph triangle() {
  UpdateOracle oracle(3, true, false, false);
  oracle.apply({edges({{0, 1}, {1, 2}, {2, 0}}), {}, {}});
  Graph graph = oracle.graph(false);
  graph.checksum = 5;
  return graph;
}

TEST(Update, LeavesTheGraphAloneWhereNothingChanges) {
  const UpdateResult result = update_graph(triangle(), {edges({{0, 1}}), edges({{0, 2}, {9, 9}}), {}}, 2);

  expect_equal(result.counts, {.inserted = 0, .present = 1, .deleted = 0, .missing = 2, .new_vertices = 0});
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(result.graph.checksum, 5u);
  expect_equal(result.graph.out, triangle().out);
}

TEST(Update, TakesAnEmptyBatchAndAnEmptyGraph) {
  EXPECT_EQ(update_graph(triangle(), {}, 1).graph.edges(), 3u);

  const UpdateResult result = update_graph(UpdateOracle(0, true, false, false).graph(true),
                                           {edges({{1, 1}, {1, 1}}), edges({{0, 0}}), {}}, 1);

  expect_equal(result.counts, {.inserted = 1, .present = 1, .deleted = 0, .missing = 1, .new_vertices = 2});
  EXPECT_EQ(values(result.graph.out.offsets), (std::vector<EdgeIndex>{0, 0, 1}));
  EXPECT_EQ(values(result.graph.in.targets), (std::vector<Vertex>{1}));
}

TEST(Update, InsertsWhatTheSameBatchDeleted) {
  const UpdateResult result = update_graph(triangle(), {edges({{0, 1}}), edges({{0, 1}, {0, 1}}), {}}, 1);

  expect_equal(result.counts, {.inserted = 1, .present = 0, .deleted = 1, .missing = 1, .new_vertices = 0});
  expect_equal(result.graph.out, triangle().out);
}

TEST(Update, SaysWhichPairsChanged) {
  const UpdateResult result = update_graph(triangle(), {edges({{2, 1}, {0, 1}}), edges({{1, 2}}), {}}, 1);

  ASSERT_EQ(result.changes.size(), 2u);
  EXPECT_EQ(result.changes[0].source, 1u);
  EXPECT_EQ(result.changes[0].target, 2u);
  EXPECT_EQ(result.changes[0].removed, 1u);
  EXPECT_EQ(result.changes[1].source, 2u);
  EXPECT_EQ(result.changes[1].inserted, 1u);
}

TEST(Update, AppendsOriginalIdsOfNewVertices) {
  Graph graph = triangle();
  graph.original_ids = HostArray<std::int64_t>(3);
  std::copy_n(std::vector<std::int64_t>{10, 20, 30}.begin(), 3, graph.original_ids.begin());

  const UpdateResult result = update_graph(std::move(graph), {edges({{3, 0}}), {}, {5}}, 1);

  EXPECT_EQ(values(result.graph.original_ids), (std::vector<std::int64_t>{10, 20, 30, 5}));
}

TEST(Update, RefusesNewVerticesWithoutOriginalIdsAndWrongWeights) {
  Graph graph = triangle();
  graph.original_ids = HostArray<std::int64_t>(3);
  std::fill(graph.original_ids.begin(), graph.original_ids.end(), 0);
  EXPECT_THROW(update_graph(std::move(graph), {edges({{3, 0}}), {}, {}}, 1), InputError);

  UpdateOracle weighted(2, true, true, false);
  UpdateBatch batch;
  batch.insertions = edges({{0, 1}});
  batch.insertions.weight = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(update_graph(weighted.graph(false), batch, 1), InputError);
}

}  // namespace
}  // namespace sluice

#include "partition/packed_changes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "partition/row_edits.hpp"
#include "partition/update.hpp"

namespace sluice {
namespace {

/// Edits in order of position; each field has at most the given number of bits.
std::vector<RowEdit> random_edits(std::size_t count, unsigned source_bits, unsigned begin_bits,
                                  unsigned target_bits, unsigned copies_bits) {
  std::mt19937_64 random(count + begin_bits);
  const auto below = [&](unsigned bits) { return bits == 0 ? 0 : random() >> (64 - bits); };
  std::vector<RowEdit> edits(count);
  std::int64_t shift = 0;
  std::uint64_t source = 0, begin = 0, first = 0;
  for (RowEdit& edit : edits) {
    source = std::min<std::uint64_t>(source + below(source_bits), kMaxVertices - 1),
    begin += below(begin_bits);
    edit.source = static_cast<Vertex>(source), edit.begin = begin;
    edit.target = static_cast<Vertex>(below(target_bits));
    edit.removed = below(copies_bits), edit.inserted = below(copies_bits);
    edit.first = first;
    shift += static_cast<std::int64_t>(edit.inserted) - static_cast<std::int64_t>(edit.removed);
    edit.shift = shift;
    begin += edit.removed, first += edit.inserted;
  }
  return edits;
}

void expect_unpacked(const PackedChanges& packed, const std::vector<RowEdit>& edits) {
  ASSERT_EQ(packed.count, edits.size());
  ASSERT_EQ(packed.blocks().size(), (edits.size() + kPackedChanges - 1) / kPackedChanges);
  std::uint64_t shift = 0, inserted = 0;
  bool repeats = false;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    SCOPED_TRACE(i);
    const RowEdit& edit = edits[i];
    const PackedBlock& block = packed.blocks()[i / kPackedChanges];
    if (i % kPackedChanges == 0) {
      EXPECT_EQ(block.shift, shift);
      EXPECT_EQ(block.inserted, inserted);
      EXPECT_EQ(block.begin, edit.begin);
      EXPECT_EQ(block.source, edit.source);
    }
    const PlacedChange found = unpack_change(block, packed.words() + block.word, i % kPackedChanges);
    EXPECT_EQ(found.change.source, edit.source);
    EXPECT_EQ(found.change.target, edit.target);
    EXPECT_EQ(found.change.removed, edit.removed);
    EXPECT_EQ(found.change.inserted, edit.inserted);
    EXPECT_EQ(found.begin, edit.begin);
    shift += edit.inserted - edit.removed, inserted += edit.inserted;
    repeats |= edit.inserted > 1;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(packed.growth, shift);
  EXPECT_EQ(packed.repeats, repeats);
}

TEST(PackedChanges, ComeOutAsTheyWentIn) {
  for (const std::size_t count : {1u, 127u, 128u, 129u, 20000u}) {
    SCOPED_TRACE(count);
    for (const auto& [source, begin, target, copies] : std::vector<std::array<unsigned, 4>>{
             {0, 0, 0, 1}, {2, 5, 22, 1}, {3, 41, 32, 1}, {20, 20, 32, 32}, {1, 7, 13, 4}, {31, 50, 32, 2}}) {
      SCOPED_TRACE(begin);
      const std::vector<RowEdit> edits = random_edits(count, source, begin, target, copies);
      expect_unpacked(pack_changes(edits, 3, nullptr), edits);
    }
  }
  EXPECT_EQ(pack_changes({}, 3, nullptr).blocks().size(), 0u);
}

/// Lists are as long as in power-law graphs, which packing is designed for.
TEST(PackedChanges, TakeFewBytesInLargeBatches) {
  const std::vector<RowEdit> edits = random_edits(100000, 3, 8, 22, 1);
  EXPECT_LT(pack_changes(edits, 2, nullptr).bytes.size(), edits.size() * 7);
}

TEST(PackedChanges, BringTheWeightsOfWhatIsInserted) {
  Graph graph;
  graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(4);
  std::fill(graph.out.offsets.begin(), graph.out.offsets.end(), EdgeIndex{0});
  graph.directed = true;
  UpdateBatch batch;
  batch.insertions = {{2, 0, 1}, {1, 2, 0}, {0.5f, 0.25f, 8}, {}};

  const UpdateResult result = update_graph(std::move(graph), batch, 1);

  const HostArray<float>& weights = result.changes.packed().weights;
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()), (std::vector<float>{0.25f, 8, 0.5f}));
}

}  // namespace
}  // namespace sluice

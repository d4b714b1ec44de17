// Rows and edges packed into words are read back, up to the width of their fields.
#include "engine/graph/wide.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

TEST(PackedRow, KeepsOffsetAndDegree) {
  for (const EdgeIndex offset : {EdgeIndex{0}, EdgeIndex{1}, PackedRow::kMaxOffset}) {
    for (const std::uint32_t degree : {0u, 1u, PackedRow::kMaxDegree}) {
      const Row row = PackedRow::of({offset, degree}).row();

      EXPECT_EQ(row.offset, offset);
      EXPECT_EQ(row.degree, degree);
    }
  }
}

/// 2^20 vertices need 21 bits and 2^23 edges need 24, so 19 remain for the degree.
constexpr std::uint64_t kVertices = 1u << 20, kEdges = 1u << 23;

TEST(EdgePacking, GivesVerticesAndOffsetsTheBitsThatTheyNeed) {
  const EdgePacking packing = EdgePacking::of(kVertices, kEdges);

  EXPECT_EQ(packing.vertex_bits, 21u);
  EXPECT_EQ(packing.offset_bits, 24u);
  EXPECT_EQ(packing.max_degree(), (1u << 19) - 1);
}

TEST(EdgePacking, IsWorthwhileWhileDegreesHaveTwelveBits) {
  EXPECT_TRUE((EdgePacking{26, 26}.worthwhile()));
  EXPECT_FALSE((EdgePacking{26, 27}.worthwhile()));
}

TEST(EdgePacking, KeepsTargetOffsetAndDegree) {
  const EdgePacking packing = EdgePacking::of(kVertices, kEdges);
  const std::vector<EdgeIndex> offsets(kVertices + 1, 12345);  // a look-up would find this
  const GraphView none{{kVertices, kEdges, offsets.data(), nullptr, nullptr}};

  for (const Vertex target : {Vertex{0}, Vertex{kVertices - 1}}) {
    for (const EdgeIndex offset : {EdgeIndex{0}, EdgeIndex{kEdges}}) {
      for (const std::uint32_t degree : {0u, 1u, (1u << 19) - 2}) {
        const std::uint64_t bits = packing.pack(target, {offset, degree});

        EXPECT_EQ(packing.target(bits), target);
        EXPECT_EQ(packing.row(bits, none).offset, offset);
        EXPECT_EQ(packing.row(bits, none).degree, degree);
      }
    }
  }
}

TEST(EdgePacking, LooksUpADegreeThatItsBitsCannotHold) {
  const EdgePacking packing{40, 20};  // 4 bits for the degree
  const std::vector<EdgeIndex> offsets{0, 7, 7 + 15, 7 + 15 + 100};
  const GraphView view{{3, offsets.back(), offsets.data(), nullptr, nullptr}};

  for (Vertex v = 0; v < 3; ++v) {
    const std::uint64_t bits = packing.pack(v, view.row(v));

    EXPECT_EQ(packing.target(bits), v);
    EXPECT_EQ(packing.row(bits, view).offset, view.row(v).offset);
    EXPECT_EQ(packing.row(bits, view).degree, view.degree(v));
  }
}

}  // namespace
}  // namespace sluice

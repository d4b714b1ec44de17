// Coded alias slots: every slot is read back, and draws equal those of uncoded slots.
#include "engine/select/coded_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "engine/select/tables.hpp"

namespace sluice {
namespace {

TEST(CodedSlots, ReadsWhatWasWritten) {
  std::mt19937_64 random(7);
  for (const std::uint32_t degree : {1u, 2u, 31u, 32u, 255u, 256u, 1000u, 70000u, CodedSlots::kMaxSlots}) {
    const CodedSlots code = CodedSlots::of(degree);
    const std::uint32_t some = std::min(degree, 5000u);
    std::vector<std::uint32_t> words(code.words() + 2, 0);
    words.front() = words.back() = ~0u;
    std::vector<AliasSlot> slots(degree);
    // Tests the first slots and the last one; slots of the longest list do not overlap either.
    const auto each = [&](const auto& body) {
      for (std::uint32_t i = 0; i < some; ++i) body(i);
      if (some < degree) body(degree - 1);
    };
    each([&](std::uint32_t i) {
      const auto other = static_cast<std::uint32_t>(random() % (degree + 1));
      slots[i] = {random(), other == degree ? kNoVertex : other};
      code.write(words.data() + 1, i, slots[i]);
    });

    EXPECT_EQ(words.front() & words.back(), ~0u) << "written beside the list";
    each([&](std::uint32_t i) {
      const CodedSlots::Slot slot = code.read(words.data() + 1, i);
      ASSERT_EQ(slot.head, slots[i].threshold >> 56) << degree << ", slot " << i;
      ASSERT_EQ(slot.other, std::min(slots[i].other, degree)) << degree << ", slot " << i;
    });
  }
}

/// The list of one vertex among `vertices`, with its slots uncoded and coded.
struct OneList {
  OneList(std::uint64_t vertices, const std::vector<Vertex>& to, const std::vector<std::uint64_t>& biases)
      : offsets(vertices + 1, to.size()),
        targets(to),
        thresholds(to.size()),
        others(to.size()),
        rows(vertices) {
    const auto degree = static_cast<std::uint32_t>(targets.size());
    const EliasFano code = EliasFano::of(vertices, degree);
    const CodedSlots slots = CodedSlots::of(degree);
    offsets[0] = 0, rows[0].degree = degree;
    words.assign(code.words() + slots.words(), 0);
    EXPECT_TRUE(code.write(targets, words.data()));
    build_alias(
        degree, std::accumulate(biases.begin(), biases.end(), std::uint64_t{0}),
        [&](std::uint32_t i) { return biases[i]; },
        [&](std::uint32_t i, const AliasSlot& slot) {
          thresholds[i] = slot.threshold, others[i] = slot.other;
          slots.write(words.data() + code.words(), i, slot);
        });
    view.csr = {vertices, targets.size(), offsets.data(), targets.data()};
  }

  AliasTable whole() const { return {thresholds.data(), others.data()}; }
  CodedAliasTable coded() const { return {{{rows.data(), words.data()}}, thresholds.data()}; }

  std::vector<EdgeIndex> offsets;
  std::vector<Vertex> targets;
  std::vector<std::uint64_t> thresholds;
  std::vector<std::uint32_t> others;
  std::vector<CodedRow> rows;
  std::vector<std::uint32_t> words;
  GraphView view;
};

void expect_same_draw(const OneList& list, std::uint32_t index, std::uint64_t high) {
  // The smallest random bits that choose the index, and others for the threshold.
  const auto degree = static_cast<unsigned __int128>(list.targets.size());
  const auto low =
      static_cast<std::uint64_t>(((static_cast<unsigned __int128>(index) << 64) + degree - 1) / degree);
  const PhiloxBlock block{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                          static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  ASSERT_EQ(block.low(), low);
  ASSERT_EQ(block.high(), high);
  Probe whole, coded;

  const bool found = list.whole().locate(list.view, 0, list.view.row(0), block, whole);

  ASSERT_EQ(list.coded().locate(list.view, 0, list.view.row(0), block, coded), found);
  if (!found) return;
  ASSERT_EQ(coded.position, whole.position) << "index " << index << ", random bits " << high;
  ASSERT_EQ(list.coded().resolve(list.view, coded).target, list.whole().resolve(list.view, whole).target);
}

TEST(CodedAliasTable, DrawsAsWholeSlotsDo) {
  std::mt19937_64 random(11);
  for (const std::uint32_t degree : {1u, 2u, 3u, 64u, 65u, 700u}) {
    std::vector<Vertex> targets(degree);
    std::vector<std::uint64_t> biases(degree);
    for (Vertex& target : targets) target = static_cast<Vertex>(random() % 5000);
    for (std::uint64_t& bias : biases) bias = random() % 4 == 0 ? 0 : random() >> 24;
    std::ranges::sort(targets);
    const OneList list(5000, targets, biases);

    for (std::uint32_t i = 0; i < degree; ++i) {
      const std::uint64_t threshold = list.thresholds[i];
      // On both sides of the threshold, where its first bits do not decide, and far from it.
      for (const std::uint64_t high :
           {threshold, threshold - 1, threshold + 1, threshold | 0xffffffffffffff, threshold >> 56 << 56,
            std::uint64_t{0}, ~std::uint64_t{0}, static_cast<std::uint64_t>(random())})
        expect_same_draw(list, i, high);
    }
  }
}

TEST(CodedAliasTable, FindsNothingWhereNoBiasIsPositive) {
  const OneList list(100, {4, 9, 9}, {0, 0, 0});

  for (std::uint32_t i = 0; i < 3; ++i) expect_same_draw(list, i, 0);
  Probe probe;
  EXPECT_FALSE(list.coded().locate(list.view, 0, list.view.row(0), {1, 2, 3, 4}, probe));
}

}  // namespace
}  // namespace sluice

#include "engine/acc/rounds/round_work.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

using acc::EntryBlock;
using acc::RoundExchange;
using acc::RoundWork;

/// As many entries as `count`, from one rank for another.
std::vector<std::uint64_t> block_of(std::uint64_t count, int from, int to) {
  std::vector<std::uint64_t> memory(acc::EntryBlock<std::uint64_t>::bytes(count) / sizeof(std::uint64_t));
  const auto block = acc::EntryBlock<std::uint64_t>::at(memory.data(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    block.states[i] = (i << 8) + static_cast<std::uint64_t>(from);
    block.vertices[i] = static_cast<Vertex>(i * 4 + static_cast<std::uint64_t>(to));
  }
  return memory;
}

TEST(RoundExchangeTest, HandsOverWhatFitsARoundMessageAndWhatDoesNot) {
  constexpr int kRanks = 3;
  // Entries from rank r to the rank after it and to the one after that, round by round.
  const std::vector<std::array<std::uint64_t, 2>> rounds{{0, 0}, {1, 16}, {17, 0}, {2, 5000}, {0, 1}};
  Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    acc::RoundExchange exchange(ranks);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      // Rank 0 has nothing to send in the last but one, so others learn only from the others' messages.
      const auto count = [&](int from, int to) {
        return from == to || (from == 0 && round == 3)
                   ? 0
                   : rounds[round][static_cast<std::size_t>((to - from + kRanks) % kRanks - 1)];
      };
      std::vector<std::vector<std::uint64_t>> memory;
      std::vector<acc::RoundExchange::Block> send;
      for (int to = 0; to < kRanks; ++to) {
        memory.push_back(block_of(count(rank, to), rank, to));
        send.push_back(std::as_bytes(std::span(memory.back())));
      }
      const auto r = static_cast<std::uint64_t>(rank);

      const acc::RoundWork all = exchange(
          {.active = 10 + r, .edges = r, .next = 7 - r, .found = 2 * r, .found_edges = 5 + r, .sent = r * r},
          send);

      EXPECT_EQ(all.active, 33u);
      EXPECT_EQ(all.edges, 3u);
      EXPECT_EQ(all.next, 5u);
      EXPECT_EQ(all.found, 6u);
      EXPECT_EQ(all.found_edges, 18u);
      EXPECT_EQ(all.sent, 5u);
      std::vector<std::uint64_t> found(kRanks);
      for (const acc::RoundExchange::Block bytes : exchange.received()) {
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, 0u);
        const std::uint64_t entries = acc::EntryBlock<std::uint64_t>::count(bytes.size());
        const auto block = acc::EntryBlock<std::uint64_t>::at(const_cast<std::byte*>(bytes.data()), entries);
        const auto from = static_cast<int>(block.states[0] & 0xff);
        const auto expected = block_of(entries, from, rank);
        EXPECT_TRUE(std::ranges::equal(bytes, std::as_bytes(std::span(expected))));
        found[static_cast<std::size_t>(from)] += entries;
      }
      for (int from = 0; from < kRanks; ++from)
        EXPECT_EQ(found[static_cast<std::size_t>(from)], count(from, rank)) << round;
    }
  });
}

TEST(RoundExchangeTest, SaysNothingAlone) {
  const auto alone = make_alone();
  acc::RoundExchange exchange(*alone);

  const acc::RoundWork all = exchange({.active = 3, .edges = 4}, std::vector<acc::RoundExchange::Block>(1));

  EXPECT_EQ(all.active, 3u);
  EXPECT_EQ(all.next, acc::RoundWork::kNothing);
  EXPECT_TRUE(exchange.received().empty());
}

}  // namespace
}  // namespace sluice::test

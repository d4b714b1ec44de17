#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "acc/cases.hpp"
#include "engine/acc/rounds/entry_exchange.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

using acc::EntryExchange;
using acc::RoundWork;
using Block = acc::EntryBlock<std::uint64_t>;

constexpr int kRanks = 3;

/// The state of entry i that rank `from` sends.
std::uint64_t state_of(std::uint64_t i, int from) {
  return (i << 8) + static_cast<std::uint64_t>(from);
}
Vertex vertex_of(std::uint64_t i, int to) {
  return static_cast<Vertex>(i * 4 + static_cast<std::uint64_t>(to));
}

/// Exchanges the entries of a round: `count(from, to)` entries from each rank to each other.
template <class Count>
void expect_all_arrive(EntryExchange<std::uint64_t>& entries, int rank, Count&& count) {
  const auto fill = [&](int to, std::uint64_t begin, const Block& block, std::uint64_t some) {
    for (std::uint64_t i = 0; i < some; ++i) {
      block.states[i] = state_of(begin + i, rank);
      block.vertices[i] = vertex_of(begin + i, to);
    }
  };
  entries.clear();
  for (int to = 0; to < kRanks; ++to) {
    const std::uint64_t some = count(rank, to);
    if (some == 0) continue;
    if (const auto block = entries.reserve(static_cast<std::size_t>(to), some)) fill(to, 0, *block, some);
  }
  const RoundWork all = entries.exchange({.active = 1});
  std::array<std::uint64_t, kRanks> found{};
  entries.receive(
      all.max_overflow, nullptr,
      [&](std::size_t to, std::uint64_t begin, const Block& block, std::uint64_t some) {
        fill(static_cast<int>(to), begin, block, some);
      },
      [&](const Block& block, std::uint64_t some) {
        for (std::uint64_t i = 0; i < some; ++i) {
          const auto from = static_cast<int>(block.states[i] & 0xff);
          // Entries of one rank arrive in order.
          const std::uint64_t place = found[static_cast<std::size_t>(from)]++;
          EXPECT_EQ(block.states[i], state_of(place, from));
          EXPECT_EQ(block.vertices[i], vertex_of(place, rank));
        }
      });
  EXPECT_EQ(all.active, 3u);
  bool any = false;
  for (int from = 0; from < kRanks; ++from) {
    EXPECT_EQ(found[static_cast<std::size_t>(from)], count(from, rank)) << from;
    any = any || count(from, rank) > 0;
  }
  EXPECT_EQ(entries.any_received(), any);
}

/// Calls test(entries, rank) on every rank of a job whose ranks own parts of 6,000 vertices.
template <class Test>
void on_every_rank(std::uint64_t piece_bytes, const Test& test) {
  const Graph graph = stat::make_graph(6000, {{0, 1}, {1, 2}}, false);
  Meeting::run(kRanks, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    Device device({DeviceChoice::host, 1, 0});
    acc::AccPlace place;
    place.ranks = &ranks;
    const acc::RankPart part(device, graph, {}, place);
    EntryExchange<std::uint64_t> entries(device, part, piece_bytes);
    test(entries, rank);
  });
}

TEST(EntryExchangeTest, HandsOverWhatFitsARoundMessageAndWhatDoesNot) {
  // Entries that rank r sends to the next rank and to the one behind it, round by round.
  const std::vector<std::array<std::uint64_t, 2>> rounds{{0, 0}, {1, 16}, {400, 0}, {2, 1900}, {0, 1}};
  for (const std::uint64_t piece_bytes : {std::uint64_t{1}, std::uint64_t{1000}, Router::kPieceBytes}) {
    on_every_rank(piece_bytes, [&](EntryExchange<std::uint64_t>& entries, int rank) {
      for (std::size_t round = 0; round < rounds.size(); ++round) {
        // Rank 0 sends nothing in round 3, so the others' messages alone announce entries.
        expect_all_arrive(entries, rank, [&](int from, int to) {
          return from == to || (from == 0 && round == 3)
                     ? 0
                     : rounds[round][static_cast<std::size_t>((to - from + kRanks) % kRanks - 1)];
        });
      }
    });
  }
}

TEST(EntryExchangeTest, SaysWhatAllRanksHaveComeTo) {
  on_every_rank(Router::kPieceBytes, [](EntryExchange<std::uint64_t>& entries, int rank) {
    const auto r = static_cast<std::uint64_t>(rank);
    entries.clear();
    EXPECT_FALSE(entries.reserve((r + 1) % kRanks, 1000 + r)) << "so many follow";

    const RoundWork all = entries.exchange(
        {.active = 10 + r, .edges = r, .next = 7 - r, .found = 2 * r, .found_edges = 5 + r, .sent = r * r});

    EXPECT_EQ(all.active, 33u);
    EXPECT_EQ(all.edges, 3u);
    EXPECT_EQ(all.next, 5u);
    EXPECT_EQ(all.found, 6u);
    EXPECT_EQ(all.found_edges, 18u);
    EXPECT_EQ(all.sent, 5u);
    EXPECT_EQ(all.max_overflow, 1002u);
    EXPECT_TRUE(entries.any_received());
  });
}

TEST(EntryExchangeTest, SaysNothingAlone) {
  const Graph graph = stat::make_graph(3, {{0, 1}, {1, 2}}, false);
  Device device({DeviceChoice::host, 1, 0});
  const acc::RankPart part(device, graph, {}, {});
  EntryExchange<std::uint64_t> entries(device, part);
  entries.clear();

  const RoundWork all = entries.exchange({.active = 3, .edges = 4});

  EXPECT_EQ(all.active, 3u);
  EXPECT_EQ(all.next, RoundWork::kNoBin);
  EXPECT_FALSE(entries.any_received());
}

}  // namespace
}  // namespace sluice::test

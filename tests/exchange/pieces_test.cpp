// Long messages through short buffers, between ranks that are threads.
#include "engine/exchange/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/host_ceiling.hpp"
#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

/// A rank that lacks memory for the buffers reports it before anything is sent.
TEST(BlockExchange, KeepsTheBudget) {
  const HostCeiling little(1000);
  Meeting::run(2, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    std::vector<std::byte> block(1001);
    RankBlocks<const std::byte> send(2);
    RankBlocks<std::byte> receive(2);
    send[rank == 0 ? 1 : 0] = {block}, receive[rank == 0 ? 1 : 0] = {block};

    EXPECT_THROW(BlockExchange(ranks, send, receive), BudgetError);
  });
}

/// Blocks of several lengths, some longer than a piece.
TEST(BlockExchange, HandsOverBlocksInOrder) {
  Meeting::run(3, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    const auto me = static_cast<std::size_t>(rank);
    // Rank r sends rank s blocks of r + s and 11 << 20 bytes; they are received as one byte and the rest.
    std::vector<std::vector<std::byte>> from, to;
    RankBlocks<const std::byte> send(3);
    RankBlocks<std::byte> receive(3);
    for (std::size_t r = 0; r < 3; ++r) {
      from.emplace_back(me + r, static_cast<std::byte>(16 * me + r));
      from.emplace_back(11u << 20, static_cast<std::byte>(100 + 16 * me + r));
      to.emplace_back(1), to.emplace_back((11u << 20) + me + r - 1);
    }
    for (std::size_t r = 0; r < 3; ++r) {
      send[r] = {from[2 * r], from[2 * r + 1]};
      if (r != me) receive[r] = {to[2 * r], to[2 * r + 1]};
    }
    const std::uint64_t before = host_budget().used();
    meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // all have read `before`
    BlockExchange exchange(ranks, send, receive);
    meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // all have allocated theirs
    const std::uint64_t charged = host_budget().used() - before, piece = (32u << 20) / 3;
    EXPECT_EQ(charged, 3 * 4 * piece) << "to and from two others, on three ranks of one process";
    meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // all have read `charged`

    const std::uint64_t peak = host_budget().peak();
    for (int times = 0; times < 2; ++times) exchange("a test");
    EXPECT_EQ(host_budget().peak(), peak) << "it grew on the way";

    for (std::size_t r = 0; r < 3; ++r) {
      if (r == me) continue;
      const auto first = static_cast<std::byte>(16 * r + me),
                 second = static_cast<std::byte>(100 + 16 * r + me);
      EXPECT_EQ(to[2 * r][0], first);
      EXPECT_EQ(std::ranges::count(to[2 * r + 1], first), static_cast<std::ptrdiff_t>(me + r - 1));
      EXPECT_EQ(std::ranges::count(to[2 * r + 1], second), 11 << 20);
      EXPECT_EQ(to[2 * r + 1].back(), second);
    }
  });
}

}  // namespace
}  // namespace sluice::test

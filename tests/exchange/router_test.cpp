// Data that ranks send to its owners, and rows that all ranks receive. Ranks are threads.
#include "engine/exchange/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exchange/shared_bits.hpp"
#include "engine/exec/host_executor.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

/// Calls body(router) on one rank for each owner.
void on_owners(const std::vector<std::uint64_t>& begins, const std::function<void(Router&)>& body) {
  Meeting::run(static_cast<int>(begins.size()) - 1, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    Router router(ranks, Ownership(begins));
    body(router);
  });
}

/// Rank 1 has no row, and no range begins at a multiple of 8.
const std::vector<std::uint64_t> kBegins{0, 90, 90, 131, 1003};

/// The value of a row at its owner after `change`.
double value_of(std::uint64_t row, unsigned change) {
  return static_cast<double>(row) + 1000.0 * change;
}

TEST(RouterRows, AreSharedAsAWhole) {
  on_owners(kBegins, [](Router& router) {
    for (const std::uint64_t width : {1u, 3u}) {
      std::vector<double> column(1003 * width, -1);
      for (std::uint64_t i = router.first() * width; i < router.last() * width; ++i)
        column[i] = value_of(i, 0);

      router.share(column.data(), "a test", width);

      for (std::uint64_t i = 0; i < column.size(); ++i)
        ASSERT_EQ(column[i], value_of(i, 0)) << "on rank " << router.own_rank() << " of width " << width;
    }
  });
}

/// In each round every rank changes some rows: none, a few, or so many that all are sent.
TEST(RouterRows, TravelOneByOneOrAllWhereSomeChanged) {
  on_owners(kBegins, [](Router& router) {
    // A number n of a round: every n-th row of the rank is changed; 0: none, 1: all. With 2, half of the rows
    // are changed, which with ids need three quarters of the bytes of all rows.
    const std::vector<std::vector<unsigned>> rounds{
        {1, 1, 1, 1}, {10, 1, 0, 2}, {0, 0, 0, 0}, {1, 3, 7, 100}};
    const auto changes = [&](unsigned round, std::uint64_t row) {
      const std::uint32_t owner = router.owners().owner(row);
      const unsigned every = rounds[round][owner];
      return every > 0 && (row - router.owners().begin(owner)) % every == 0;
    };
    std::vector<double> column(1003), expected(1003);
    for (unsigned round = 0; round < rounds.size(); ++round) {
      std::vector<Vertex> changed;
      for (std::uint64_t row = 0; row < column.size(); ++row) {
        if (!changes(round, row)) continue;
        expected[row] = value_of(row, round);
        if (!router.owns(static_cast<Vertex>(row))) continue;
        column[row] = expected[row];
        changed.push_back(static_cast<Vertex>(row));
      }

      router.share_changed(column.data(), changed, "a test");

      for (std::uint64_t row = 0; row < column.size(); ++row)
        ASSERT_EQ(column[row], expected[row])
            << "row " << row << " on rank " << router.own_rank() << " in round " << round;
    }
  });
}

/// Rows that are sent as a whole are received in place, without a buffer.
TEST(RouterRows, ComeToTheirPlaceAsAWhole) {
  const std::uint64_t before = host_budget().used();
  on_owners({0, 5000, 10000}, [&](Router& router) {
    std::vector<std::uint64_t> column(10000, router.own_rank() + 1);
    std::vector<Vertex> changed(5000);
    std::iota(changed.begin(), changed.end(), static_cast<Vertex>(router.first()));
    router.share_changed(column.data(), changed, "a test");
    EXPECT_EQ(column[4999], 1u);
    EXPECT_EQ(column[5000], 2u);
    EXPECT_EQ(host_budget().used(), before);
  });
}

/// Ranges are not in the order of ranks, one is empty, and some elements are in no range.
TEST(RouterRows, AreSharedByRanges) {
  on_owners(kBegins, [](Router& router) {
    const std::vector<ElementRange> ranges{{700, 900}, {0, 3}, {5, 5}, {3, 5}};
    std::vector<std::uint16_t> column(1003, 9);
    const auto [begin, end] = ranges[router.own_rank()];
    for (std::uint64_t i = begin; i < end; ++i)
      column[i] = static_cast<std::uint16_t>(10 + router.own_rank());

    router.share_ranges(column.data(), ranges, "a test");

    for (std::uint64_t i = 0; i < column.size(); ++i)
      ASSERT_EQ(column[i], i < 3                 ? 11
                           : i < 5               ? 13
                           : i >= 700 && i < 900 ? 10
                                                 : 9)
          << i << " on rank " << router.own_rank();
  });
}

/// Ranges of 2 or of 4 ranks share a word. Some ranks begin inside another's word, or behind the last.
TEST(RouterRows, AreSharedAsBits) {
  const Device device({DeviceChoice::host, 1, 0});
  for (const std::vector<std::uint64_t>& begins :
       {kBegins, {0, 40, 41, 50, 64}, {0, 64, 64}, {0, 0, 5}, {0, 0, 0}, {0, 7}}) {
    on_owners(begins, [&](Router& router) {
      const std::uint64_t rows = begins.back();
      const auto is_set = [](std::uint64_t row) { return row % 3 == 0 || row == 130 || row == 131; };
      std::vector<std::uint32_t> words((rows + 31) / 32);
      for (std::uint64_t row = router.first(); row < router.last(); ++row)
        if (is_set(row)) words[row / 32] |= 1u << row % 32;
      HostExecutor executor(device);
      SharedBits bits(device, router, executor, router.owners().view(), "a test");

      bits.share(words.data());

      for (std::uint64_t row = 0; row < rows; ++row)
        ASSERT_EQ(words[row / 32] >> row % 32 & 1, is_set(row) ? 1u : 0u)
            << row << " on rank " << router.own_rank();
    });
  }
}

TEST(RouterRows, AreGatheredAsIdsOrBits) {
  for (const unsigned every : {1u, 2u, 50u, 2000u}) {  // bits, ids of all but the first, row 0 alone
    on_owners(kBegins, [&](Router& router) {
      std::vector<Vertex> own, expected(1003 / every + (1003 % every != 0));
      for (std::uint64_t i = 0; i < expected.size(); ++i) {
        expected[i] = static_cast<Vertex>(i * every);
        if (router.owns(expected[i])) own.push_back(expected[i]);
      }

      std::vector<Vertex> all = router.gather_rows(own, "a test");

      EXPECT_TRUE(std::equal(own.begin(), own.end(), all.begin())) << "own rows come first";
      std::ranges::sort(all);
      EXPECT_EQ(all, expected) << "on rank " << router.own_rank() << " of every " << every;
    });
  }
}

TEST(RouterRows, StayWhereTheyAreAlone) {
  const auto alone = make_single_rank();
  Router router(*alone, Ownership({0, 3}));
  std::vector<double> column{1, 2, 3};
  router.share(column.data(), "a test");
  router.share_changed(column.data(), std::vector<Vertex>{1}, "a test");
  router.share_ranges(column.data(), std::vector<ElementRange>{{0, 3}}, "a test");
  EXPECT_EQ(column, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(router.gather_rows({2, 0}, "a test"), (std::vector<Vertex>{2, 0}));
  EXPECT_EQ(router.sum(7, "a test"), 7u);
}

TEST(RouterRows, GrowOnTheLastRank) {
  on_owners(kBegins, [](Router& router) {
    router.grow(1100);
    std::vector<std::uint64_t> column(1100);
    for (std::uint64_t row = router.first(); row < router.last(); ++row) column[row] = row;
    router.share(column.data(), "a test");
    for (std::uint64_t row = 0; row < 1100; ++row) ASSERT_EQ(column[row], row);
    EXPECT_EQ(router.sum(router.last() - router.first(), "a test"), 1100u);
  });
}

/// All at once, and in pieces of some values of one rank each.
TEST(RouterColumns, GoToTheirOwners) {
  const Device device({DeviceChoice::host, 1, 0});
  const auto count = [](std::uint64_t from, std::uint64_t to) { return from == 1 ? 0 : 13 * from + 40 * to; };
  const auto value = [](std::uint64_t from, std::uint64_t to, std::uint64_t i) {
    return from << 40 | to << 20 | i;
  };
  for (const bool in_pieces : {false, true}) {
    Meeting::run(3, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      const auto me = static_cast<std::uint64_t>(rank);
      std::vector<std::uint64_t> send, wide;
      std::vector<std::uint16_t> narrow;
      for (std::uint64_t to = 0; to < 3; ++to) {
        send.push_back(count(me, to));
        for (std::uint64_t i = 0; i < send.back(); ++i) {
          wide.push_back(value(me, to, i));
          narrow.push_back(static_cast<std::uint16_t>(me << 12 | to << 8 | i));
        }
      }
      std::optional<Router> router;
      in_pieces ? router.emplace(ranks, device, nullptr, 3 * 65) : router.emplace(ranks);

      const auto receive = router->exchange_counts(send, "counts");
      const std::uint64_t sum = std::reduce(receive.begin(), receive.end());
      std::vector<std::uint64_t> came_wide(sum);
      std::vector<std::uint16_t> came_narrow(sum);
      router->send(std::vector<RoutedColumn>{{wide.data(), came_wide.data(), 8},
                                             {narrow.data(), came_narrow.data(), 2}},
                   send, receive, nullptr, "columns");

      std::uint64_t at = 0;
      for (std::uint64_t from = 0; from < 3; ++from) {
        ASSERT_EQ(receive[from], count(from, me));
        for (std::uint64_t i = 0; i < receive[from]; ++i, ++at) {
          ASSERT_EQ(came_wide[at], value(from, me, i)) << "from rank " << from << " to rank " << me;
          ASSERT_EQ(came_narrow[at], from << 12 | me << 8 | i) << "from rank " << from << " to rank " << me;
        }
      }
    });
  }
}

/// One rank has too little memory for what it sends: all end with the same error, and can continue.
TEST(RouterCounts, EndAlikeWhereOneRankLacksMemory) {
  Meeting::run(3, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    const Router router(ranks);
    std::vector<std::uint64_t> send(3, 5);
    for (const int lacking : {3, 1, 0}) {  // 3: no rank
      const auto body = [&] {
        if (rank == lacking) throw BudgetError("this rank lacks it");
        send.assign(3, static_cast<std::uint64_t>(rank));
      };
      if (lacking == 3) {
        EXPECT_EQ(router.exchange_counts_after(body, send, "a test"), (std::vector<std::uint64_t>{0, 1, 2}));
        continue;
      }
      try {
        router.exchange_counts_after(body, send, "a test");
        ADD_FAILURE() << "rank " << lacking << " lacks memory, but rank " << rank << " does not know";
      } catch (const BudgetError& error) {
        EXPECT_EQ(std::string(error.what()).starts_with("this rank"), rank == lacking) << error.what();
      }
    }
  });
}

}  // namespace
}  // namespace sluice::test

// Received data is charged to the host's budget before it is in memory.
#include "engine/exchange/inbox.hpp"

#include <gtest/gtest.h>

#include "core/host_ceiling.hpp"
#include "engine/core/error.hpp"

namespace sluice {
namespace {

class InboxTest : public testing::Test {
 protected:
  /// Bytes charged since the test began.
  std::uint64_t charged() const { return host_budget().used() - before_; }
  void leave_bytes(std::uint64_t bytes) { ceiling_.leave(bytes); }

 private:
  std::uint64_t before_ = host_budget().used();
  test::HostCeiling ceiling_;
};

TEST_F(InboxTest, ChargesTheMostThatCameAtOnce) {
  {
    ReceiveBuffer inbox;
    for (const std::uint64_t size : {100u, 1000u, 10u}) {
      const std::vector<std::uint64_t> sizes{size, 0, 2 * size};
      std::byte* const to = inbox.resize(sizes, "a test");
      for (std::uint64_t i = 0; i < 3 * size; ++i) to[i] = static_cast<std::byte>(i < size ? 1 : 3);

      EXPECT_EQ(charged(), size == 100 ? 300u : 3000u);
      EXPECT_EQ(inbox.bytes().size(), 3 * size);
      std::vector<std::size_t> from;
      inbox.for_each([&](std::size_t rank, std::span<const std::byte> bytes) {
        from.push_back(rank);
        EXPECT_EQ(bytes.size(), rank == 0 ? size : 2 * size);
        EXPECT_EQ(bytes.back(), static_cast<std::byte>(rank + 1));
      });
      EXPECT_EQ(from, (std::vector<std::size_t>{0, 2}));
    }
  }
  EXPECT_EQ(charged(), 0u);
}

/// The old buffer is freed first, since memory need not hold both.
TEST_F(InboxTest, GrowsWhereBothDoNotFit) {
  leave_bytes(1000);
  ReceiveBuffer inbox;
  inbox.resize(std::vector<std::uint64_t>{600}, "a test");

  inbox.resize(std::vector<std::uint64_t>{0, 1000}, "a test");

  EXPECT_EQ(charged(), 1000u);
}

TEST_F(InboxTest, SaysInOneLineWhatDoesNotFit) {
  leave_bytes(1000);
  ReceiveBuffer inbox;

  try {
    inbox.resize(std::vector<std::uint64_t>{1001}, "words of ranks");
    ADD_FAILURE() << "so many do not fit";
  } catch (const BudgetError& error) {
    const std::string line = error.what();
    EXPECT_TRUE(line.starts_with("host memory: words of ranks needs 1001 B, ")) << line;
    EXPECT_NE(line.find("raise --host-memory"), line.npos) << line;
    EXPECT_EQ(line.find('\n'), line.npos) << line;
  }

  EXPECT_EQ(charged(), 0u);
  EXPECT_TRUE(inbox.bytes().empty());
}

}  // namespace
}  // namespace sluice

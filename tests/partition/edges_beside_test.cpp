// A thread that waits for lists in order continues once these are read, in whatever order reads complete.
#include "partition/edges_beside.hpp"

#include <gtest/gtest.h>

#include <semaphore>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"

namespace sluice {
namespace {

/// Reads ranges in the given order, the last one after `rest` is released.
class FakeEdges final : public PendingEdges {
 public:
  explicit FakeEdges(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges)
      : ranges_(std::move(ranges)) {}

  bool complete() const override { return there_; }
  void read(unsigned, const UseLists& use) override {
    for (const auto& range : ranges_) {
      if (&range == &ranges_.back()) rest.acquire();
      if (fails && &range == &ranges_.back()) throw InputError("a fault");
      use(range.first, range.second, 0);
    }
    there_ = true;
  }

  std::binary_semaphore rest{0};
  bool fails = false;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  bool there_ = false;
};

TEST(EdgesBesideTest, ListsAreThereOnceAllBeforeThemAre) {
  FakeEdges coming({{5, 9}, {0, 3}, {3, 5}, {9, 12}});
  BackgroundEdges beside(&coming, 1);

  beside.wait(5);
  beside.wait(9);  // was read first of all
  EXPECT_FALSE(coming.complete());
  coming.rest.release();
  beside.wait(12);
  beside.finish();

  EXPECT_TRUE(coming.complete());
}

TEST(EdgesBesideTest, AFaultIsThrownWhereListsAreMissing) {
  FakeEdges coming({{0, 5}, {5, 6}});
  coming.fails = true;
  BackgroundEdges beside(&coming, 1);

  beside.wait(5);
  coming.rest.release();
  EXPECT_THROW(beside.wait(6), InputError);
}

TEST(EdgesBesideTest, ALeaverWaitsForTheReader) {
  FakeEdges coming({{0, 5}, {5, 6}});
  {
    BackgroundEdges beside(&coming, 1);
    coming.rest.release();
  }
  EXPECT_TRUE(coming.complete());
}

TEST(EdgesBesideTest, NothingToComeIsThere) {
  BackgroundEdges beside(nullptr, 1);
  EXPECT_NO_THROW(beside.wait(100));
  EXPECT_NO_THROW(beside.finish());
}

}  // namespace
}  // namespace sluice

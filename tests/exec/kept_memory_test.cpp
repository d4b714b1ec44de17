// Released memory that is kept for reuse, with a source that counts.
#include "engine/exec/memory/kept_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace sluice::test {
namespace {

constexpr std::size_t kPage = CachedMemory::kPage, kAll = ~std::size_t{0};

/// Memory of a device of `limit` bytes.
struct Source {
  static inline std::size_t limit, taken, allocations, synchronized;
  static inline std::map<void*, std::size_t> pieces;

  static void* allocate(std::size_t bytes) {
    if (taken + bytes > limit) return nullptr;
    void* const memory = reinterpret_cast<void*>(++allocations);
    taken += pieces[memory] = bytes;
    return memory;
  }
  static void release(void* memory) noexcept {
    taken -= pieces.at(memory);
    pieces.erase(memory);
  }
  static void synchronize() noexcept { ++synchronized; }
};

class KeptMemoryTest : public testing::Test {
 protected:
  KeptMemoryTest() {
    Source::limit = kAll, Source::taken = Source::allocations = Source::synchronized = 0;
    Source::pieces.clear();
  }
  CachedMemory memory_{{Source::allocate, Source::release, Source::synchronize}};
};

TEST_F(KeptMemoryTest, TakesWhatWasReleased) {
  void* const first = memory_.allocate(3 * kPage, kAll);
  memory_.release(first, 3 * kPage);
  EXPECT_EQ(Source::synchronized, 1u) << "kernels may still use it";
  EXPECT_EQ(Source::taken, 3 * kPage);

  EXPECT_EQ(memory_.allocate(3 * kPage - 5, kAll), first) << "of as many pages";
  EXPECT_NE(memory_.allocate(3 * kPage, kAll), first);
  EXPECT_EQ(Source::allocations, 2u);
  EXPECT_EQ(Source::taken, 6 * kPage);
}

TEST_F(KeptMemoryTest, AllocatesAnewWhatHasAnotherSize) {
  memory_.release(memory_.allocate(2 * kPage, kAll), 2 * kPage);

  EXPECT_NE(memory_.allocate(kPage, kAll), nullptr);

  EXPECT_EQ(Source::allocations, 2u);
  EXPECT_EQ(Source::taken, 3 * kPage) << "the other one is kept";
}

TEST_F(KeptMemoryTest, KeepsNothingSmall) {
  void* const small = memory_.allocate(CachedMemory::kMinCachedBytes - 1, kAll);
  memory_.release(small, CachedMemory::kMinCachedBytes - 1);

  EXPECT_EQ(Source::taken, 0u);
}

TEST_F(KeptMemoryTest, KeepsNoMoreThanTheBudgetLeaves) {
  memory_.release(memory_.allocate(4 * kPage, kAll), 4 * kPage);

  memory_.allocate(kPage, 4 * kPage);
  EXPECT_EQ(Source::taken, 5 * kPage);
  memory_.allocate(kPage, 4 * kPage - 1);
  EXPECT_EQ(Source::taken, 2 * kPage) << "what was kept is given back";
}

TEST_F(KeptMemoryTest, GivesBackWhatIsKeptBeforeThereIsNone) {
  Source::limit = 4 * kPage;
  memory_.release(memory_.allocate(3 * kPage, kAll), 3 * kPage);

  EXPECT_NE(memory_.allocate(2 * kPage, kAll), nullptr);
  EXPECT_EQ(Source::taken, 2 * kPage);
  EXPECT_EQ(memory_.allocate(3 * kPage, kAll), nullptr);

  memory_.release(memory_.allocate(2 * kPage, kAll), 2 * kPage);
  Source::limit = 4 * kPage + 7;
  EXPECT_NE(memory_.allocate(9, kAll), nullptr) << "small pieces too";
  EXPECT_EQ(Source::taken, 2 * kPage + 9);
}

}  // namespace
}  // namespace sluice::test

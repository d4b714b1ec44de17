// Memory with pages of its own.
#include "engine/core/large_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace sluice::test {
namespace {

TEST(LargeMemory, SharesNoPageWithOtherMemory) {
  constexpr std::uintptr_t kPage = 4096;
  const auto page_of = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / kPage; };
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{5000}, std::size_t{300'000}, std::size_t{5} << 20}) {
    std::vector<std::vector<std::uint8_t>> others;
    const auto take_others = [&] {
      for (int i = 0; i < 100; ++i) others.emplace_back(i % 7 * 500 + 24);
    };
    take_others();

    const std::unique_ptr<void, decltype(&std::free)> memory(allocate_aligned(bytes), std::free);

    take_others();
    const std::uintptr_t first = page_of(memory.get()),
                         last = page_of(static_cast<const std::uint8_t*>(memory.get()) + bytes - 1);
    for (const auto& other : others)
      EXPECT_FALSE(page_of(&other.back()) >= first && page_of(other.data()) <= last) << bytes << " bytes";
  }
}

}  // namespace
}  // namespace sluice::test

// A wait for a GPU has a deadline, and its error names the awaited operation. Large copies are complete.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/stream.cuh"
#include "gpu/gpu.hpp"

namespace sluice::test {
namespace {

__global__ void idle_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

TEST(Stream, GivesUpAtTheDeadline) {
  REQUIRE_GPU(open_gpu());
  const cuda::Stream stream;
  idle_kernel<<<1, 1, 0, stream.get()>>>(2'000'000'000);  // about a second

  try {
    stream.wait("a kernel that idles", Timeout{0});
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "waited 0 s for a kernel that idles, which did not finish");
  }

  EXPECT_NO_THROW(stream.wait("a kernel that idles"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

/// Several threads copy large memory that is not page-locked.
TEST(Copies, LargeOnesArriveWhole) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  constexpr std::size_t kSize = (70u << 20) / sizeof(std::uint32_t) + 3;
  HostArray<std::uint32_t> numbers(kSize), back(kSize);
  std::iota(numbers.begin(), numbers.end(), 1u);
  const Staging<std::uint32_t> locked(*gpu, kSize, "page-locked numbers");
  std::copy(numbers.begin(), numbers.end(), locked.data());
  const std::uint64_t used = host_budget().used();
  for (const std::uint32_t* const from : {numbers.data(), locked.data()}) {
    const Buffer<std::uint32_t> there(*gpu, kSize, "numbers");

    copy_to_device(*gpu, there.data(), from, there.bytes());

    copy_to_host(*gpu, back.data(), there.data(), there.bytes());
    EXPECT_TRUE(std::equal(back.begin(), back.end(), numbers.begin()));
    EXPECT_EQ(host_budget().used(), used);
    std::fill(back.begin(), back.end(), 0u);
  }
}

/// The threads' own streams do not synchronize with the default stream by themselves.
TEST(Copies, ToTheHostComeBehindTheDefaultStream) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  constexpr std::size_t kSize = 70u << 20;
  HostArray<std::uint8_t> back(kSize);
  const Buffer<std::uint8_t> there(*gpu, kSize, "bytes");
  idle_kernel<<<1, 1>>>(200'000'000);  // about a tenth of a second
  ASSERT_EQ(cudaMemsetAsync(there.data(), 0x5a, there.bytes()), cudaSuccess);

  copy_to_host(*gpu, back.data(), there.data(), there.bytes());

  EXPECT_TRUE(std::all_of(back.begin(), back.end(), [](std::uint8_t byte) { return byte == 0x5a; }));
}

/// Other memory may begin in the last page of page-locked memory: a copy across its end would fail.
TEST(Copies, PassMemoryThatIsPageLocked) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  std::vector<std::vector<std::uint32_t>> others;
  const auto take_others = [&] {
    for (int i = 0; i < 100; ++i) others.emplace_back(1000, i);
  };
  take_others();
  const HostArray<std::uint32_t> lists(5000);
  const PageLock lock(*gpu, lists.data(), lists.bytes());
  take_others();

  const Buffer<std::uint32_t> there(*gpu, 1000, "numbers");
  for (const auto& other : others)
    EXPECT_NO_THROW(copy_to_device(*gpu, there.data(), other.data(), there.bytes()));
}

}  // namespace
}  // namespace sluice::test

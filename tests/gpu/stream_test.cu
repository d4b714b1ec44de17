// A wait for a GPU has a deadline, and its error names what was waited for.
#include <gtest/gtest.h>

#include "engine/exec/device.hpp"
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
    EXPECT_STREQ(error.what(), "waited 0 s for a kernel that idles, and it did not end");
  }

  EXPECT_NO_THROW(stream.wait("a kernel that idles"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace sluice::test

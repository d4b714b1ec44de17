// Our generator equals cuRAND's Philox4x32-10, on the host (its header compiles there) and on the device.
#include <curand_philox4x32_x.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/random/philox.hpp"

namespace sluice::test {
namespace {

__host__ __device__ PhiloxBlock counter_of(unsigned i) {
  return {i * 2654435761u, ~i, i ^ 0x5bd1e995u, i << 16};
}
__host__ __device__ std::uint64_t key_of(unsigned i) {
  return i * 0x9E3779B97F4A7C15ull;
}

__global__ void compare_kernel(unsigned count, unsigned* different) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const PhiloxBlock c = counter_of(i), ours = philox(c, key_of(i));
  const uint4 theirs = curand_Philox4x32_10(
      make_uint4(c.x, c.y, c.z, c.w),
      make_uint2(static_cast<unsigned>(key_of(i)), static_cast<unsigned>(key_of(i) >> 32)));
  if (ours.x != theirs.x || ours.y != theirs.y || ours.z != theirs.z || ours.w != theirs.w)
    atomicAdd(different, 1);
}

TEST(PhiloxOnTheGpu, EqualsCurand) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no usable GPU";
  constexpr unsigned kCount = 1u << 20;
  unsigned* different = nullptr;
  ASSERT_EQ(cudaMalloc(&different, sizeof(unsigned)), cudaSuccess);
  ASSERT_EQ(cudaMemset(different, 0, sizeof(unsigned)), cudaSuccess);

  compare_kernel<<<kCount / 256, 256>>>(kCount, different);

  unsigned found = ~0u;
  ASSERT_EQ(cudaMemcpy(&found, different, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(different);
  EXPECT_EQ(found, 0u);
}

}  // namespace
}  // namespace sluice::test

// Code for host and GPU: the engine's generator equals cuRAND's Philox4x32-10, and a GPU finds the owners
// that the host finds.
#include <curand_philox4x32_x.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/random/philox.hpp"
#include "gpu/gpu.hpp"

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

constexpr unsigned kThreads = 128;

__global__ void owner_kernel(OwnershipView owners, std::uint64_t vertices, std::uint32_t* found) {
  const std::uint64_t v = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (v < vertices) found[v] = owners.owner(static_cast<Vertex>(v));
}

TEST(OwnershipOnTheGpu, FindsTheOwnersThatTheHostFinds) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const std::vector<std::uint64_t>& begins :
       {std::vector<std::uint64_t>{0, 1}, {0, 0, 5, 5, 5, 9, 9}, {0, 10, 10, 300, 301, 5000, 100'000}}) {
    const Ownership owners(begins);
    const DeviceOwnership copy(*gpu, owners, "owners");
    const std::uint64_t vertices = owners.vertices();
    const Buffer<std::uint32_t> found(*gpu, vertices, "owners");

    owner_kernel<<<static_cast<unsigned>(vertices / kThreads + 1), kThreads>>>(copy.view(), vertices,
                                                                               found.data());
    std::vector<std::uint32_t> on_gpu(vertices);
    copy_to_host(*gpu, on_gpu.data(), found.data(), found.bytes());

    for (Vertex v = 0; v < vertices; ++v) ASSERT_EQ(on_gpu[v], owners.owner(v)) << "vertex " << v;
  }
}

}  // namespace
}  // namespace sluice::test

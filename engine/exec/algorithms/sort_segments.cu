#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_sort.cuh>

#include "engine/exec/algorithms/sort.hpp"
#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

namespace {

struct RelativeOffset {
  std::uint64_t first;
  __host__ __device__ std::int64_t operator()(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset - first);
  }
};

}  // namespace

void sort_segments(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                   const float* values_from, float* values_to, std::uint64_t first, std::uint64_t size,
                   const std::uint64_t* offsets, std::uint64_t lists, Buffer<unsigned char>& scratch,
                   void* stream) {
  const auto items = static_cast<std::int64_t>(size), segments = static_cast<std::int64_t>(lists);
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  const auto begins = thrust::make_transform_iterator(offsets, RelativeOffset{first}), ends = begins + 1;
  const auto sort = [&](void* workspace, std::size_t& bytes) {
    return values_from == nullptr
               ? cub::DeviceSegmentedSort::SortKeys(workspace, bytes, keys_from, keys_to, items, segments,
                                                    begins, ends, cuda_stream)
               : cub::DeviceSegmentedSort::SortPairs(workspace, bytes, keys_from, keys_to, values_from,
                                                     values_to, items, segments, begins, ends, cuda_stream);
  };
  std::size_t bytes = 0;
  check(sort(nullptr, bytes), "measuring a sort of lists");
  scratch.reserve(device, bytes, "scratch of sorts");
  check(sort(scratch.data(), bytes), "a sort of lists");
}

}  // namespace sluice::cuda

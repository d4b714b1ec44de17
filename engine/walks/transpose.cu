#include "engine/walks/transpose.hpp"

#include <algorithm>

#include "engine/batch/batch_writer.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/resident_impl.hpp"

namespace sluice::walks::cuda {

using namespace sluice::cuda;  // streams, groups and checks of a GPU

namespace {

constexpr unsigned kTileSide = 32;  // a warp reads 32 walks of one step and writes 32 steps of one walk
constexpr unsigned kTileRows = 8;

// ---- kernels

__global__ void transpose_kernel(const Vertex* paths, Vertex* rows, std::uint64_t count, std::uint64_t pitch,
                                 std::uint64_t row) {
  __shared__ Vertex tile[kTileSide][kTileSide + 1];
  const std::uint64_t walk = static_cast<std::uint64_t>(blockIdx.x) * kTileSide,
                      step = blockIdx.y * kTileSide;
  for (unsigned y = threadIdx.y; y < kTileSide; y += kTileRows) {
    if (step + y < row && walk + threadIdx.x < count) {
      tile[y][threadIdx.x] = paths[(step + y) * pitch + walk + threadIdx.x];
    }
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < kTileSide; y += kTileRows) {
    if (walk + y < count && step + threadIdx.x < row) {
      rows[(walk + y) * row + step + threadIdx.x] = tile[threadIdx.x][y];
    }
  }
}

}  // namespace

// ---- launchers

BatchPlan plan_batches(const Device& device, std::uint64_t row_bytes, std::uint64_t instances,
                       bool with_sink) {
  constexpr std::uint64_t kPathBytes = std::uint64_t{16} << 30;
  constexpr std::uint64_t kCounterBytes = std::uint64_t{64} << 10;  // what the run allocates beside the batch
  const std::uint64_t free = device.memory().available();
  const std::uint64_t usable = free > kCounterBytes ? free - kCounterBytes : 0;
  const std::uint64_t walk_bytes = with_sink || device.is_planning() ? 2 * row_bytes : row_bytes;
  if (device.is_planning()) {
    device.memory().charge_and_release(kCounterBytes + walk_bytes, "a walk");
    return {};
  }
  if (usable < walk_bytes) {
    throw BudgetError("device memory: one walk needs " + format_size(walk_bytes) +
                      " besides the graph, but " + format_size(free) +
                      " are left (raise --device-memory or lower --length)");
  }
  const std::uint64_t staged = std::min(kGpuResultBytes, host_budget().available() / 4);
  const std::uint64_t limit =
      with_sink ? std::min(usable, 2 * std::max(staged, row_bytes)) : std::min(usable, kPathBytes);
  constexpr std::uint64_t kLine = 32;  // walks
  const std::uint64_t fits = std::max<std::uint64_t>(limit / walk_bytes, 1),
                      wanted = std::max<std::uint64_t>(instances, 1);
  if (fits < 2 * kLine) return {std::min(fits, wanted), std::min(fits, wanted)};
  const std::uint64_t pitch = std::min((wanted + kLine - 1) / kLine * kLine, fits / kLine * kLine);
  return {std::min(wanted, pitch), pitch};
}

void transpose(const Stream& stream, const Vertex* paths, Vertex* rows, std::uint64_t count,
               std::uint64_t pitch, std::uint64_t row) {
  const dim3 grid(grid_for(count, kTileSide), grid_for(row, kTileSide));
  transpose_kernel<<<grid, dim3(kTileSide, kTileRows), 0, stream.get()>>>(paths, rows, count, pitch, row);
  check_launch("transpose_kernel");
}

ResultCopier::ResultCopier(const Device& device, std::uint64_t elements) {
  if (elements == 0) return;
  rows_ = Buffer<Vertex>(device, elements, "rows of walks");
  for (auto& host : host_) host = Staging<Vertex>(device, elements, "results in transit");
}

const Vertex* ResultCopier::collect(const Stream& stream, const Vertex* paths, std::uint64_t count,
                                    std::uint64_t pitch, std::uint64_t row, RunStats& stats) {
  Vertex* out = host_[buffer_index_++ % 2].data();
  Timer timer;
  timer.start(stream);
  transpose(stream, paths, rows_.data(), count, pitch, row);
  const std::size_t bytes = count * row * sizeof(Vertex);
  check(cudaMemcpyAsync(out, rows_.data(), bytes, cudaMemcpyDeviceToHost, stream.get()), "copying walks");
  timer.stop(stream);
  stream.wait("walks");
  stats.transfer_seconds += timer.seconds();
  stats.device_to_host_bytes += bytes;
  ++stats.kernel_launches;
  return out;
}

}  // namespace sluice::walks::cuda

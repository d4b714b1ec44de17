#include "engine/exec/backend.hpp"

#include <cuda_runtime.h>

#include <string>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/copy_lane.hpp"

namespace sluice::cuda {

namespace {

int opened_device = 0;  ///< the GPU of this process: a rank has one

/// All files are compiled for the same GPUs: if this kernel can be launched, so can every other.
__global__ void probe_kernel() {}

/// Says why the probe cannot be launched.
std::string probe_failure(int index, cudaError_t status) {
  const std::string message = cudaGetErrorString(status);
  const bool no_matching_code = status == cudaErrorNoKernelImageForDevice ||
                                status == cudaErrorUnsupportedPtxVersion ||
                                status == cudaErrorInvalidDeviceFunction;
  cudaDeviceProp gpu{};
  if (!no_matching_code || cudaGetDeviceProperties(&gpu, index) != cudaSuccess) return message;
  return std::string(gpu.name) + " has compute capability " + std::to_string(gpu.major) + "." +
         std::to_string(gpu.minor) + ", this build has code for " SLUICE_CUDA_ARCHITECTURES ": " + message +
         "; build with the preset cuda on a machine with this GPU, or with the preset release";
}

}  // namespace

std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return ids;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) return {};
    std::string& id = ids.emplace_back();
    for (const char byte : properties.uuid.bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      id += kDigits[static_cast<unsigned char>(byte) / 16];
      id += kDigits[static_cast<unsigned char>(byte) % 16];
    }
  }
  return ids;
}

GpuState gpu_state(int index) {
  int count = 0, driver = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count <= index))
    return {false, "no CUDA device"};
  cudaDriverGetVersion(&driver);
  if (driver == 0) return {false, "no CUDA driver"};
  cudaFuncAttributes attributes{};
  if (status == cudaSuccess) status = cudaSetDevice(index);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (status == cudaSuccess) return {true, {}};
  cudaGetLastError();  // clears the error, which the next check of a launch would report
  return {true, probe_failure(index, status)};
}

DeviceProperties open_device(int index) {
  opened_device = index;
  bind_thread();
  check(cudaFree(nullptr), "opening the device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {properties.name, free, total - free, static_cast<unsigned>(properties.multiProcessorCount)};
}

std::string version() {
  const auto dotted = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  int runtime = 0, driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  return dotted(runtime) + (driver == 0 ? " (no driver)" : " (driver " + dotted(driver) + ")");
}

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears the error, which the next check of a launch would report
    return nullptr;
  }
  check(status, "cudaMalloc");
  return memory;
}

void release(void* memory) noexcept {
  cudaFree(memory);
}

void synchronize() noexcept {
  cudaDeviceSynchronize();
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return memory;
}

void release_pinned(void* memory) noexcept {
  cudaFreeHost(memory);
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
  // From pageable memory the call may return before the last bytes have arrived. Streams that do not wait for
  // the default stream would then read old contents.
  wait_stream(nullptr, "a copy to the device");
}

void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy to the host");
}

void bind_thread() {
  check(cudaSetDevice(opened_device), "cudaSetDevice");
}

void register_host(const void* memory, std::size_t bytes) {
  check(cudaHostRegister(const_cast<void*>(memory), bytes, cudaHostRegisterMapped), "page-locking the graph");
}

void unregister_host(const void* memory) noexcept {
  cudaHostUnregister(const_cast<void*>(memory));
}

bool is_page_locked(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeHost;
}

void* open_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void close_stream(void* stream) noexcept {
  cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}

void copy_async(void* to, const void* from, std::size_t bytes, void* stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)), "a copy");
}

bool stream_done(void* stream, const char* label) {
  return is_done(cudaStreamQuery(static_cast<cudaStream_t>(stream)), label);
}

void wait_stream(void* stream, const char* label, Timeout timeout) {
  wait_until([=] { return stream_done(stream, label); }, label, timeout);
}

}  // namespace sluice::cuda

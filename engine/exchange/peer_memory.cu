#include "engine/exchange/peer_memory.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "engine/exchange/agreement.hpp"
#include "engine/exec/cuda_check.cuh"

namespace sluice {

namespace {

/// What a rank sends the others about its memory.
struct Shared {
  long node = 0, process = 0;
  int gpu = 0;
  std::array<char, 16> gpu_id{};
  std::byte* memory = nullptr;
  cudaIpcMemHandle_t handle{};
  bool has_handle = false;

  bool same_process(const Shared& other) const { return node == other.node && process == other.process; }
  bool same_gpu(const Shared& other) const { return node == other.node && gpu_id == other.gpu_id; }
};

Shared shared(const Communicator& ranks, void* own) {
  Shared part;
  part.node = ranks.node_leader();
  part.process = getpid();
  cuda::check(cudaGetDevice(&part.gpu), "cudaGetDevice");
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, part.gpu), "cudaGetDeviceProperties");
  std::memcpy(part.gpu_id.data(), properties.uuid.bytes, part.gpu_id.size());
  part.memory = static_cast<std::byte*>(own);
  part.has_handle = cudaIpcGetMemHandle(&part.handle, own) == cudaSuccess;
  if (!part.has_handle) cudaGetLastError();  // clears the error, which the next check would report
  return part;
}

/// Whether the link between two GPUs carries atomics, as NVLink does and PCIe does not. True for a GPU that
/// this process does not see: opening its memory then succeeds or fails.
bool carries_atomics(const Shared& here, const Shared& there) {
  int gpus = 0;
  cuda::check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
    if (std::memcmp(properties.uuid.bytes, there.gpu_id.data(), there.gpu_id.size()) != 0) continue;
    int atomics = 0;
    cuda::check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, here.gpu, gpu),
                "cudaDeviceGetP2PAttribute");
    return atomics != 0;
  }
  return true;
}

/// Enables access to the memory of another GPU of the same process; returns whether it is enabled.
bool enable_access(int gpu) {
  const cudaError_t status = cudaDeviceEnablePeerAccess(gpu, 0);
  cudaGetLastError();
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

}  // namespace

std::unique_ptr<PeerMemory> PeerMemory::open(Communicator& ranks, void* own) {
  const Shared here = shared(ranks, own);
  const auto all = ranks.all_gather({reinterpret_cast<const char*>(&here), sizeof here}, "memory of GPUs");
  std::unique_ptr<PeerMemory> peers(new PeerMemory);
  peers->sharing_ = 0;
  bool reached = true;
  for (const std::string& bytes : all) {
    Shared there;
    std::memcpy(static_cast<void*>(&there), bytes.data(), sizeof there);
    std::byte* memory = there.memory;
    if (there.node == here.node && !there.same_gpu(here)) reached = reached && carries_atomics(here, there);
    if (there.same_process(here)) {
      if (there.same_gpu(here)) {
        ++peers->sharing_;
      } else {
        reached = reached && enable_access(there.gpu);
      }
    } else {
      void* opened = nullptr;
      reached = reached && there.node == here.node && !there.same_gpu(here) && there.has_handle &&
                cudaIpcOpenMemHandle(&opened, there.handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
      cudaGetLastError();
      if (opened != nullptr) peers->opened_.push_back(opened);
      memory = static_cast<std::byte*>(opened);
    }
    peers->memory_.push_back(memory);
  }
  if (!any_left(&ranks, reached ? 0 : 1, "memory of GPUs")) return peers;
  peers.reset();
  ranks.barrier("memory of GPUs");
  return nullptr;
}

PeerMemory::~PeerMemory() {
  for (void* const memory : opened_) cudaIpcCloseMemHandle(memory);
}

}  // namespace sluice

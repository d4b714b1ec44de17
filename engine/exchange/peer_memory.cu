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
struct SharedAllocation {
  long node = 0, process = 0;
  int gpu = 0;
  std::array<char, 16> gpu_id{};
  std::byte* memory = nullptr;
  cudaIpcMemHandle_t handle{};
  bool has_handle = false;

  bool same_process(const SharedAllocation& other) const {
    return node == other.node && process == other.process;
  }
  bool same_gpu(const SharedAllocation& other) const { return node == other.node && gpu_id == other.gpu_id; }
};

SharedAllocation describe(const Communicator& ranks, void* own_memory) {
  SharedAllocation allocation;
  allocation.node = ranks.node_leader();
  allocation.process = getpid();
  cuda::check(cudaGetDevice(&allocation.gpu), "cudaGetDevice");
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, allocation.gpu), "cudaGetDeviceProperties");
  std::memcpy(allocation.gpu_id.data(), properties.uuid.bytes, allocation.gpu_id.size());
  allocation.memory = static_cast<std::byte*>(own_memory);
  allocation.has_handle = cudaIpcGetMemHandle(&allocation.handle, own_memory) == cudaSuccess;
  if (!allocation.has_handle) cudaGetLastError();  // clears the error, which the next check would report
  return allocation;
}

/// Whether the link between two GPUs carries atomics, as NVLink does and PCIe does not. True for a GPU that
/// this process does not see: opening its memory then succeeds or fails.
bool link_supports_atomics(const SharedAllocation& own_allocation, const SharedAllocation& peer) {
  int gpus = 0;
  cuda::check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
    if (std::memcmp(properties.uuid.bytes, peer.gpu_id.data(), peer.gpu_id.size()) != 0) continue;
    int atomics = 0;
    cuda::check(
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, own_allocation.gpu, gpu),
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

std::unique_ptr<PeerMemory> PeerMemory::open(Communicator& ranks, void* own_memory) {
  const SharedAllocation own_allocation = describe(ranks, own_memory);
  const auto all = ranks.all_gather({reinterpret_cast<const char*>(&own_allocation), sizeof own_allocation},
                                    "memory of GPUs");
  std::unique_ptr<PeerMemory> peers(new PeerMemory);
  peers->ranks_on_gpu_ = 0;
  bool reachable = true;
  for (const std::string& bytes : all) {
    SharedAllocation peer;
    std::memcpy(static_cast<void*>(&peer), bytes.data(), sizeof peer);
    std::byte* memory = peer.memory;
    if (peer.node == own_allocation.node && !peer.same_gpu(own_allocation))
      reachable = reachable && link_supports_atomics(own_allocation, peer);
    if (peer.same_process(own_allocation)) {
      if (peer.same_gpu(own_allocation)) {
        ++peers->ranks_on_gpu_;
      } else {
        reachable = reachable && enable_access(peer.gpu);
      }
    } else {
      void* opened = nullptr;
      reachable = reachable && peer.node == own_allocation.node && !peer.same_gpu(own_allocation) &&
                  peer.has_handle &&
                  cudaIpcOpenMemHandle(&opened, peer.handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
      cudaGetLastError();
      if (opened != nullptr) peers->opened_.push_back(opened);
      memory = static_cast<std::byte*>(opened);
    }
    peers->memory_.push_back(memory);
  }
  if (!any_left(&ranks, reachable ? 0 : 1, "memory of GPUs")) return peers;
  peers.reset();
  ranks.barrier("memory of GPUs");
  return nullptr;
}

PeerMemory::~PeerMemory() {
  for (void* const memory : opened_) cudaIpcCloseMemHandle(memory);
}

}  // namespace sluice

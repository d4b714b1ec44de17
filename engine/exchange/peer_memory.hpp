// Device memory of every rank that kernels of all ranks' GPUs read and write over NVLink: ranks of one host
// whose GPUs reach each other, with native atomics.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// The most ranks whose memory kernels have pointers to.
inline constexpr unsigned kMaxPeers = 32;

class PeerMemory {
 public:
  /// Least size of an allocation that shares its memory with no other; a handle opens a whole allocation.
  static constexpr std::size_t kMinBytes = std::size_t{2} << 20;

  /// Shares `own_memory`, this rank's allocation of at least kMinBytes. Returns null on all ranks if a GPU
  /// cannot access another's memory, atomics included, or if processes share a GPU. All ranks call it, and
  /// destroy the result before any rank frees its memory.
  static std::unique_ptr<PeerMemory> open(Communicator& ranks, void* own_memory);
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory();

  /// The memory of each rank, by the addresses that this rank's kernels use.
  const std::vector<std::byte*>& by_rank() const { return memory_; }
  /// The number of this process's ranks on this GPU.
  unsigned ranks_on_gpu() const { return ranks_on_gpu_; }

 private:
  PeerMemory() = default;

  std::vector<std::byte*> memory_;
  std::vector<void*> opened_;  ///< of other processes
  unsigned ranks_on_gpu_ = 1;
};

}  // namespace sluice

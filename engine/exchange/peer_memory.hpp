// Device memory of every rank that kernels of all ranks' GPUs read and write, over NVLink or PCIe: ranks of
// one host whose GPUs reach each other.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// Ranks, at most, whose memory kernels have pointers to.
inline constexpr unsigned kMostPeers = 32;

class PeerMemory {
 public:
  /// An allocation of its own is no smaller: a handle stands for a whole one, which others may share.
  static constexpr std::size_t kLeastBytes = std::size_t{2} << 20;

  /// `own` is what this rank gives, an allocation of at least kLeastBytes. Null on all ranks where a GPU does
  /// not reach another's memory, atomics included, or processes share one. All ranks call it, and close what
  /// it returns before any frees its memory.
  static std::unique_ptr<PeerMemory> open(Communicator& ranks, void* own);
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory();

  /// Of each rank, as this one's kernels reach it.
  const std::vector<std::byte*>& of_ranks() const { return memory_; }
  /// Ranks of this process on this GPU.
  unsigned sharing() const { return sharing_; }

 private:
  PeerMemory() = default;

  std::vector<std::byte*> memory_;
  std::vector<void*> opened_;  ///< of other processes
  unsigned sharing_ = 1;
};

}  // namespace sluice

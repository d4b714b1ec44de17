// Host memory for arrays that are made anew again and again in about the same size, as batches make those of
// a graph. What an array leaves is kept for the next one, page-locked where the device is a GPU: page-locking
// an array takes longer than copying it.
#pragma once

#include <memory>

#include "engine/core/host_memory.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

/// Charged to the host budget in full, in use or not; what is not in use goes back where memory is short.
/// Arrays may outlive it. Safe to call from several threads.
class RecycledMemory final : public HostMemory {
 public:
  explicit RecycledMemory(const Device& device);
  RecycledMemory(const RecycledMemory&) = delete;
  RecycledMemory& operator=(const RecycledMemory&) = delete;
  ~RecycledMemory() override;

  /// Takes a little more than asked for, so that arrays that grow still fit. Throws BudgetError.
  Block allocate(std::uint64_t bytes, const char* purpose) override;

 private:
  class Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace sluice

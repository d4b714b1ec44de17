// Messages between the GPUs of a job that bypass the hosts, by NCCL. The library is loaded when it is first
// needed, so that a program built with it runs where it is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice {

class Device;

/// Elements [begin, end) of an array that all ranks have.
struct ElementRange {
  std::uint64_t begin = 0, end = 0;
};
/// [owners] The range of each owner.
std::vector<ElementRange> ranges_of(const Ownership& owners);

/// Collective operations on device memory, in the order of a stream. All ranks call them in the same order.
/// A call returns before its operation is done. All throw RunError with NCCL's message. `stream` is a
/// cudaStream_t.
class DeviceRanks {
 public:
  virtual ~DeviceRanks() = default;

  /// Copies elements ranges[r] of `memory` from rank r to all ranks, for every r. Ranges may be empty, even
  /// all of them.
  virtual void all_gather_ranges(void* memory, std::span<const ElementRange> ranges,
                                 std::size_t element_bytes, void* stream) = 0;
  /// Writes the `bytes` bytes at `from` of every rank to `to` on all ranks, in order of rank.
  virtual void all_gather(const void* from, void* to, std::size_t bytes, void* stream) = 0;
  /// Sends `send[r]` bytes to each rank r and receives `receive[r]` bytes from it. They are contiguous and in
  /// order of rank at `to`, and also at `from` if `stride` is 0; else rank r's begin at from + stride * r.
  virtual void all_to_all(const void* from, std::uint64_t stride, std::span<const std::uint64_t> send,
                          void* to, std::span<const std::uint64_t> receive, void* stream) = 0;
  /// Reduces `values` [ranks][per_rank] over the ranks by minimum. This rank's `per_rank` values get their
  /// result; the others are lost.
  virtual void reduce_scatter_min(std::uint32_t* values, std::uint64_t per_rank, void* stream) = 0;
  /// Blocks until all work of the stream is done, however long another rank works before it does its part.
  /// Throws PeerFailed if another rank has failed, and RunError if a link or a rank is lost.
  void wait(void* stream, const char* label);
  /// Throws as wait(); for code that waits by other means.
  virtual void throw_if_failed(const char* label) = 0;
  /// Ends pending operations in which a rank takes no part any more; no other call may follow.
  virtual void abort() noexcept = 0;

  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  std::uint64_t bytes_sent_ = 0;
};

/// Connects the GPUs of ranks that all compute on such devices. Returns null, on all ranks, if two share a
/// GPU or NCCL is missing on one of them; also if `ranks` is null, and for a run that is only planned. All
/// ranks call it. Throws RunError if NCCL cannot connect them. `max_blocks`, the same on all ranks, bounds
/// the blocks of all operations at once, one on each of any multiprocessors that are idle; 0: NCCL decides.
std::unique_ptr<DeviceRanks> connect_gpus(Communicator* ranks, const Device& device, unsigned max_blocks = 0);
/// What connect_gpus() calls in a build with CUDA; the GPUs must be open.
std::unique_ptr<DeviceRanks> make_device_ranks(Communicator& ranks, unsigned max_blocks);

/// Bytes of this rank's GPU that NCCL took for itself, measured as the memory that its close freed; the most,
/// if it was opened several times. No budget bounds them.
std::uint64_t nccl_device_bytes();

/// NCCL's version for `--version`, or "not found", or "not built".
std::string nccl_version();

}  // namespace sluice

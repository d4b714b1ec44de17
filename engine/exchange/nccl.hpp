// What the GPUs of a job hand each other without the hosts: NCCL, which is looked for when it is first
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

/// Elements [begin, end) of memory that all ranks have.
struct ElementRange {
  std::uint64_t begin = 0, end = 0;
};
/// [owners] What each has.
std::vector<ElementRange> ranges_of(const Ownership& owners);

/// Collective operations on device memory, in the order of a stream: all ranks call them in the same order,
/// and they are under way when the call returns. All throw RunError with what NCCL says. `stream` is a
/// cudaStream_t.
class DeviceRanks {
 public:
  virtual ~DeviceRanks() = default;

  /// Elements ranges[r] of `memory` are known to rank r, and then to all. Ranges may be empty, of all ranks
  /// too.
  virtual void all_gather_ranges(void* memory, std::span<const ElementRange> ranges,
                                 std::size_t element_bytes, void* stream) = 0;
  /// The `bytes` at `from` of every rank, by rank, at `to`.
  virtual void all_gather(const void* from, void* to, std::size_t bytes, void* stream) = 0;
  /// `send[r]` bytes go to rank r and `receive[r]` come from it. At `to` they lie in order of rank one behind
  /// the other, and so at `from`, or rank r's begin `apart` * r bytes behind it, if that is not zero.
  virtual void all_to_all(const void* from, std::uint64_t apart, std::span<const std::uint64_t> send,
                          void* to, std::span<const std::uint64_t> receive, void* stream) = 0;
  /// Of `values`, `each` of every rank in order of rank, this rank's become the least of what any rank has
  /// there; the others are lost.
  virtual void reduce_scatter_min(std::uint32_t* values, std::uint64_t each, void* stream) = 0;
  /// Blocks until all work of the stream is done, however long another rank works before it does its part;
  /// throws as Communicator does where another rank has failed, and RunError where a link or a rank is lost.
  void wait(void* stream, const char* label);
  /// Throws so; for code that waits otherwise.
  virtual void throw_if_failed(const char* label) = 0;
  /// Ends what is under way, where a rank does not come any more; nothing else may be called then.
  virtual void abort() noexcept = 0;

  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  std::uint64_t bytes_sent_ = 0;
};

/// Connects the GPUs of ranks that all work on such devices. Null, on all ranks, where two share a GPU, or
/// NCCL is not there on one of them; also without `ranks`, and for a run that is only planned. All ranks call
/// it. Throws RunError where NCCL cannot connect them. `most_blocks`, the same on all ranks: what is done at
/// once takes so many blocks at most, one on each of any multiprocessors that have nothing else to do; 0: as
/// many as NCCL likes.
std::unique_ptr<DeviceRanks> connect_gpus(Communicator* ranks, const Device& device,
                                          unsigned most_blocks = 0);
/// What it calls in a build with CUDA, for GPUs that are open.
std::unique_ptr<DeviceRanks> make_device_ranks(Communicator& ranks, unsigned most_blocks);

/// Bytes of this rank's GPU that NCCL took for itself, judged by what became free when it was closed; the
/// most, if it was open several times. No budget bounds them.
std::uint64_t nccl_device_bytes();

/// NCCL's version for `--version`, or "not found", or "not built".
std::string nccl_version();

}  // namespace sluice

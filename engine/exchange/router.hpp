// What ranks send each other by owner, and the answers that go back: columns of values in the memory of the
// ranks' devices. Between GPUs that are connected it travels by NCCL, otherwise by MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice {

/// Values of one kind, in order of rank at both ends.
struct RoutedColumn {
  const void* from;
  void* to;
  std::size_t value_bytes;
};

class Router {
 public:
  static constexpr std::uint64_t kPieceBytes = 16u << 20;

  /// Columns of host memory.
  explicit Router(Communicator& ranks) : ranks_(ranks) {}
  /// Columns of the device's memory. `link` null, on all ranks: by MPI. Then `piece_bytes` travel at
  /// once, which for a GPU pass through as much page-locked memory of the host in each direction. Throws
  /// BudgetError.
  Router(Communicator& ranks, const Device& device, DeviceRanks* link,
         std::uint64_t piece_bytes = kPieceBytes);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router();

  std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  /// How many values come from each rank, where `send[r]` go to rank r; all ranks call it.
  std::vector<std::uint64_t> counts(std::span<const std::uint64_t> send, const char* label) const;
  /// The same after `body`, which says what `send` is and may find too little memory: then all ranks throw
  /// BudgetError, not this one alone (memory/owned_partitions.hpp: together).
  std::vector<std::uint64_t> counts_after(const std::function<void()>& body,
                                          const std::vector<std::uint64_t>& send, const char* label) const;
  /// `send[r]` values of every column go to rank r, and `receive[r]` come from it, as counts() said; all
  /// ranks call it. Answers go back with the two exchanged. What `stream` has begun is done before, and what
  /// came is there when it returns. Returns the seconds that GPUs took; the communicator counts its own.
  double send(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
              std::span<const std::uint64_t> receive, void* stream, const char* label);
  /// One column of host memory; `to` has what receive[] says.
  template <class T>
  void send(const T* from, T* to, std::span<const std::uint64_t> send, std::span<const std::uint64_t> receive,
            const char* label) {
    const RoutedColumn column{from, to, sizeof(T)};
    this->send({&column, 1}, send, receive, nullptr, label);
  }

 private:
  bool on_gpu() const { return device_ && device_->is_cuda(); }
  /// Up to `piece` values of a column behind the first `from` of each rank's.
  void send_some(const RoutedColumn& column, std::span<const std::uint64_t> send,
                 std::span<const std::uint64_t> receive, std::uint64_t from, std::uint64_t piece,
                 const char* label);

  Communicator& ranks_;
  const Device* device_ = nullptr;
  DeviceRanks* link_ = nullptr;
  std::uint64_t piece_bytes_ = 0;  ///< to one rank
  Staging<std::byte> leaving_, arriving_;
};

}  // namespace sluice

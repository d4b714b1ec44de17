// Columns of values in device memory on their way between ranks: from GPU to GPU where they are connected,
// else through the hosts' memory, piece by piece.
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
struct ExchangedColumn {
  const void* from;
  void* to;
  std::size_t value_bytes;
};

class ColumnExchange {
 public:
  static constexpr std::uint64_t kPieceBytes = 16u << 20;

  /// `link` null, on all ranks: through the hosts, of which each sends so many bytes at a time. Throws
  /// BudgetError.
  ColumnExchange(Communicator& ranks, const Device& device, DeviceRanks* link,
                 std::uint64_t piece_bytes = kPieceBytes);
  ColumnExchange(const ColumnExchange&) = delete;
  ColumnExchange& operator=(const ColumnExchange&) = delete;
  ~ColumnExchange();

  /// How many values come from each rank, where `send[r]` go to rank r; all ranks call it.
  std::vector<std::uint64_t> counts(std::span<const std::uint64_t> send, const char* label) const;
  /// The same after `body`, which says what `send` is and may find too little memory: then all ranks throw
  /// BudgetError, not this one alone (memory/owned_partitions.hpp: together).
  std::vector<std::uint64_t> counts_after(const std::function<void()>& body,
                                          const std::vector<std::uint64_t>& send, const char* label) const;
  /// `send[r]` values of every column go to rank r, and `receive[r]` come from it, as counts() said; all
  /// ranks call it. What `stream` has begun is done before, and what came is there when it returns. Returns
  /// the seconds that GPUs took; what hosts say to each other, the communicator counts.
  double exchange(std::span<const ExchangedColumn> columns, std::span<const std::uint64_t> send,
                  std::span<const std::uint64_t> receive, void* stream, const char* label);

 private:
  void through_hosts(const ExchangedColumn& column, std::span<const std::uint64_t> send,
                     std::span<const std::uint64_t> receive, std::uint64_t most, const char* label);

  Communicator& ranks_;
  const Device& device_;
  DeviceRanks* link_;
  std::uint64_t piece_bytes_;  ///< to one rank
  Staging<std::byte> leaving_;
  Inbox came_;
};

}  // namespace sluice

// A receive buffer for messages between ranks, charged to the budget before it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"

namespace sluice {

/// The bytes received in one exchange, in order of rank. Their memory is charged to the host's budget and
/// kept for the next exchange: it grows to the most bytes received at once.
class ReceiveBuffer {
 public:
  /// Returns memory for sizes[r] bytes from each rank r. The contents so far are lost. Throws BudgetError.
  std::byte* resize(std::span<const std::uint64_t> sizes, const char* purpose) {
    const std::uint64_t bytes = std::reduce(sizes.begin(), sizes.end());
    sizes_.clear();
    if (bytes > memory_.size()) {
      memory_ = {};  // freed first: there may be no memory for both
      memory_ = HostArray<std::byte>(bytes, purpose);
    }
    sizes_.assign(sizes.begin(), sizes.end());
    return memory_.data();
  }

  std::span<const std::byte> bytes() const {
    return {memory_.data(), std::reduce(sizes_.begin(), sizes_.end())};
  }
  /// Calls use(rank, bytes) for every rank that sent any bytes.
  template <class Use>
  void for_each(Use&& use) const {
    const std::byte* sender_bytes = memory_.data();
    for (std::size_t rank = 0; rank < sizes_.size(); sender_bytes += sizes_[rank++])
      if (sizes_[rank] > 0) use(rank, std::span(sender_bytes, sizes_[rank]));
  }

 private:
  HostArray<std::byte> memory_;
  std::vector<std::uint64_t> sizes_;
};

}  // namespace sluice

// Columns of values on their way between ranks, through host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice {

/// One column of what came from the ranks, in order of rank.
template <class T>
class Wire {
 public:
  /// `counts[r]` values of `column`, which is in order of rank, go to rank r; all ranks call it.
  void exchange(Communicator& ranks, std::span<const T> column, std::span<const std::uint64_t> counts,
                const char* label) {
    std::vector<std::span<const std::byte>> send;
    for (const std::uint64_t count : counts) {
      send.push_back(std::as_bytes(column.first(count)));
      column = column.subspan(count);
    }
    if (!reserved_) bytes_ = std::make_shared<std::vector<std::byte>>();
    // However long another rank works before it comes here.
    ranks.all_to_all(send, *bytes_, counts_, label, kUnlimited);
    for (std::uint64_t& count : counts_) count /= sizeof(T);
  }

  /// Makes room for so many values of all exchanges to come, and charges it to the host's memory; throws
  /// BudgetError.
  void reserve(std::uint64_t values, const char* purpose) {
    bytes_ = std::make_shared<std::vector<std::byte>>();
    charged_ = HostArray<std::byte>(bytes_, bytes_->data(), 0, values * sizeof(T), purpose);
    bytes_->reserve(values * sizeof(T));
    reserved_ = true;
  }

  /// Charges what came to the host's memory; throws BudgetError. What it takes is known only when it is here.
  void charge(const char* purpose) {
    charged_ = HostArray<std::byte>(bytes_, bytes_->data(), bytes_->size(), bytes_->size(), purpose);
  }

  /// How many values came from each rank.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes_->data()), bytes_->size() / sizeof(T)};
  }

 private:
  std::shared_ptr<std::vector<std::byte>> bytes_;
  std::vector<std::uint64_t> counts_;
  HostArray<std::byte> charged_;
  bool reserved_ = false;
};

}  // namespace sluice

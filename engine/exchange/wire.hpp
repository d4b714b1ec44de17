// Columns of values on their way between ranks, through host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// One column of what came from the ranks, in order of rank.
template <class T>
class Wire {
 public:
  /// `counts[r]` values of `column`, which is in order of rank, go to rank r; all ranks call it. Throws
  /// BudgetError, on this rank alone, where more comes than was reserved, and too much.
  void exchange(Communicator& ranks, std::span<const T> column, std::span<const std::uint64_t> counts,
                const char* label) {
    std::vector<std::span<const std::byte>> send;
    for (const std::uint64_t count : counts) {
      send.push_back(std::as_bytes(column.first(count)));
      column = column.subspan(count);
    }
    ranks.all_to_all(send, inbox_, label);
    counts_ = inbox_.sizes();
    for (std::uint64_t& count : counts_) count /= sizeof(T);
  }

  /// Takes memory for so many values at once, so that an exchange of no more finds it; throws BudgetError.
  void reserve(std::uint64_t values, const char* purpose) { inbox_.reserve(values * sizeof(T), purpose); }

  /// How many values came from each rank.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::span<const T> values() const {
    const auto bytes = inbox_.bytes();
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  Inbox inbox_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace sluice

// Counters of lanes (exec/executor.hpp) in the executor's memory, and the values last read by the host.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

template <Executor E>
class LaneCounts {
 public:
  /// Counters for `lists` lists. Keeps a reference to the executor.
  LaneCounts(const Device& device, E& executor, unsigned lists)
      : executor_(executor),
        lists_(lists),
        counters_(device, lists + LaneOutput::kSums + 1, "counts"),
        read_(counters_.size()) {}

  /// Output for lanes; list i begins at begins[i] in `lists`.
  LaneOutput output(Vertex* lists, const std::uint64_t* begins) const {
    unsigned long long* const sums = counters_.data() + lists_;
    return {lists, begins, counters_.data(), sums, sums + LaneOutput::kSums, lists_};
  }

  void clear() { executor_.fill(counters_.data(), 0, counters_.bytes()); }
  void clear_lowest() { executor_.fill(counters_.data() + lowest_index(), 0xff, sizeof(std::uint64_t)); }
  void clear_list(unsigned list) {
    executor_.fill(counters_.data() + list, 0, sizeof(std::uint64_t));
    read_[list] = 0;
  }
  void read() { executor_.read(read_.data(), counters_.data(), read_.size(), "a round's kernels"); }

  // Values as of the last read():

  std::uint64_t listed(unsigned list) const { return read_[list]; }
  std::uint64_t lowest() const { return read_[lowest_index()]; }
  /// Growth of a sum since its last consume().
  std::uint64_t growth(unsigned sum) const { return read_[lists_ + sum] - consumed_[sum]; }
  std::uint64_t consume(unsigned sum) {
    return read_[lists_ + sum] - std::exchange(consumed_[sum], read_[lists_ + sum]);
  }

 private:
  std::size_t lowest_index() const { return lists_ + LaneOutput::kSums; }

  E& executor_;
  unsigned lists_;
  Buffer<unsigned long long> counters_;  ///< in the order of LaneOutput
  std::vector<std::uint64_t> read_;
  std::uint64_t consumed_[LaneOutput::kSums] = {};
};

}  // namespace sluice::acc

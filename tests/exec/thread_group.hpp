// A group whose lanes are threads; it stands for a warp or a block of a GPU.
#pragma once

#include <algorithm>
#include <barrier>
#include <bit>
#include <cstdint>

namespace sluice::test {

/// Threads with a common barrier.
class ThreadGroup {
 public:
  static constexpr unsigned kSize = 2;

  struct Workspace {
    std::barrier<> barrier{kSize};
    std::uint64_t lanes[kSize] = {};
  };

  ThreadGroup(Workspace& workspace, unsigned rank) : workspace_(&workspace), rank_(rank) {}

  unsigned rank() const { return rank_; }
  void sync() const { workspace_->barrier.arrive_and_wait(); }
  template <class T>
  T broadcast(T value, unsigned from) const {
    return exchange(value, [from](const std::uint64_t* lanes) { return lanes[from]; });
  }
  std::uint32_t ballot(bool predicate) const {
    return exchange(std::uint32_t{predicate}, [](const std::uint64_t* lanes) {
      std::uint32_t ballot = 0;
      for (unsigned lane = 0; lane < kSize; ++lane) ballot |= static_cast<std::uint32_t>(lanes[lane] << lane);
      return ballot;
    });
  }
  unsigned first(std::uint32_t ballot) const { return static_cast<unsigned>(std::countr_zero(ballot)); }
  template <class T>
  T sum(T value) const {
    return exchange(value, [](const std::uint64_t* lanes) { return added(lanes, kSize); });
  }
  template <class T>
  T maximum(T value) const {
    return exchange(value,
                    [](const std::uint64_t* lanes) { return *std::max_element(lanes, lanes + kSize); });
  }
  template <class T>
  T inclusive_scan(T value) const {
    return exchange(value, [this](const std::uint64_t* lanes) { return added(lanes, rank_ + 1); });
  }

 private:
  static std::uint64_t added(const std::uint64_t* lanes, unsigned count) {
    std::uint64_t sum = 0;
    for (unsigned lane = 0; lane < count; ++lane) sum += lanes[lane];
    return sum;
  }
  template <class T, class Use>
  T exchange(T value, Use&& use) const {
    workspace_->lanes[rank_] = value;
    sync();
    const T result = static_cast<T>(use(workspace_->lanes));
    sync();
    return result;
  }

  Workspace* workspace_;
  unsigned rank_;
};

}  // namespace sluice::test

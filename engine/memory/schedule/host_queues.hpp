// Work of the host on the queues of present partitions: by all threads together or by a team for each
// partition (PagingOptions::balance), on all waiting entries at once or one instance after another
// (batching).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/memory/paging.hpp"
#include "engine/memory/schedule/balance.hpp"

namespace sluice {

class HostQueues {
 public:
  /// The end of the entries of the instance that has entry `at` of the queue.
  using InstanceEnd = std::function<std::uint64_t(std::size_t queue, std::uint64_t entry)>;
  using Body =
      std::function<void(std::size_t queue, std::uint64_t begin, std::uint64_t end, unsigned thread)>;

  HostQueues(unsigned threads, const PagingOptions& paging)
      : threads_(threads), batching_(paging.batching), balance_(paging.balance) {}

  /// Calls body(queue, begin, end, thread) over the entries [0, sizes[queue]) of every queue, in blocks of at
  /// most `grain`. Without `instance_end` every entry is an instance. The first exception is thrown here.
  void work(std::span<const std::uint64_t> sizes, std::uint64_t grain, const InstanceEnd& instance_end,
            const Body& body);

  KernelTimes& times() { return times_; }

 private:
  unsigned threads_;
  bool batching_;
  Balance balance_;
  KernelTimes times_;
};

}  // namespace sluice

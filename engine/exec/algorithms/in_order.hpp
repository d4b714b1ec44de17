// Parts of a job that threads make side by side, but whose results are taken in the order of the parts.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "engine/exec/thread_pool.hpp"

namespace sluice {

/// What a part's result lies in is its place; so many parts have begun and are not taken yet, at most.
class InOrder {
 public:
  struct Job {
    std::function<bool(unsigned place)> begin;  ///< the next part; one call at a time; false: there is none
    std::function<void(unsigned place)> make;   ///< side by side
    std::function<void(unsigned place)> take;   ///< one at a time, in the order in which parts began
  };

  InOrder(unsigned threads, unsigned places) : pool_(threads), made_(places) {}

  /// Returns when all parts are taken. The first exception ends the job and is thrown here.
  void run(const Job& job);

 private:
  using Lock = std::unique_lock<std::mutex>;

  void work(const Job& job);
  /// Each of them false where it is not the time for it. The lock is open meanwhile.
  bool take_next(const Job& job, Lock& lock);
  bool make_next(const Job& job, Lock& lock);
  unsigned place_of(std::uint64_t part) const { return static_cast<unsigned>(part % made_.size()); }

  ThreadPool pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> made_;  ///< by place: its part waits to be taken
  std::uint64_t begun_ = 0, taken_ = 0;
  bool taking_ = false, all_begun_ = false, failed_ = false;
};

}  // namespace sluice

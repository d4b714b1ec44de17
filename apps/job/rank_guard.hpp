// What a process does when it cannot go on: a rank of its machine was killed, or is stopped, or it is asked
// to stop and the work does not stop by itself in time.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/exchange/node_watch.hpp"

namespace sluice::apps {

class RankGuard {
 public:
  /// All ranks make one; it watches on a thread of its own. `alone`: no launcher kills a rank that takes
  /// longer than a second to stop. `timeout`: for a rank of this machine that shows no sign of life.
  RankGuard(Communicator& ranks, bool alone, Timeout timeout);

  /// What has these names, which are the job's alone, is removed if the job ends by force.
  void cover(const std::vector<std::string>& temporaries);
  /// No thread sweeps while this is held.
  std::unique_lock<std::mutex> hold_end() { return std::unique_lock(mutex_); }
  /// From here on no request to stop is answered.
  void settle();
  /// What is said of results where the job ends by force from here on.
  void note(NodeWatch::Results results) { node_.note(results); }
  /// Prints a line, unless a rank of this machine has printed one.
  void complain_once(const std::string& message) noexcept;
  /// Removes what cover() was given; while the lock is held, nothing of it begins anew.
  std::unique_lock<std::mutex> sweep() noexcept;
  /// The job's end is settled: from here on no thread watches, and this rank may end.
  void leave() noexcept;

 private:
  void watch(const std::stop_token& stopping);
  void remove_covered() noexcept;
  /// Ends the process; `cause` is said, with what is known of results. Returns only where a request came too
  /// late.
  void end(const std::string& cause, bool on_request);

  NodeWatch node_;
  bool speaks_of_stops_;  ///< a request to stop comes to all machines: only one of them speaks
  bool alone_;            ///< no launcher started it
  Timeout timeout_;       ///< of node_
  std::mutex mutex_;
  bool settled_ = false;
  std::vector<std::string> covered_;
  std::jthread thread_;
};

}  // namespace sluice::apps

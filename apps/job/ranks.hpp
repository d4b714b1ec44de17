// This process as one of several ranks. A failure on one rank ends all of them with one message and one exit
// status.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice::apps {

/// The ranks of this job; a single one before run_on_ranks() has connected the others.
Communicator& world();

/// Reduces one value over the ranks of the job. All ranks call it.
template <class T>
T reduce_over_ranks(T value, Reduce reduce, const char* label) {
  world().all_reduce(std::span(&value, 1), reduce, label);
  return value;
}

/// Makes world() rank `rank` of `ranks` planned ranks (make_planned), each on its own machine, until it is
/// destroyed.
class PlannedWorld {
 public:
  PlannedWorld(int rank, int ranks);
  PlannedWorld(const PlannedWorld&) = delete;
  PlannedWorld& operator=(const PlannedWorld&) = delete;
  ~PlannedWorld();

 private:
  std::unique_ptr<Communicator> other_;
};

/// Registers output names: what rank 0, or the first rank of a machine, creates under them is removed even if
/// the job is forced to end. All ranks call it; it is a barrier.
void register_outputs(const std::vector<std::string>& paths, const std::string& scratch);

/// Hold the lock while creating an output: a forced end then either removes it or precedes it.
std::unique_lock<std::mutex> lock_forced_end();
/// The job is about to end well: from here on it ignores stop requests.
void ignore_stop_requests();
/// As ignore_stop_requests(), for all ranks of a job, before rank 0 gives the results their names. A barrier:
/// from then on, the message about a lost rank says that the output may be complete.
void prepare_commit();
/// Records that rank 0 has given the results their names.
void confirm_commit();

/// Runs `body` on this rank and ends together with the others. If any rank failed, all return its exit
/// status, and one rank prints its message (`sluice: rank 2: what is wrong`).
int run_on_ranks(const std::function<void()>& body) noexcept;

/// Throws UsageError unless `text`, a list of lines, is the same on all ranks.
void require_same_on_all_ranks(const std::string& text);

}  // namespace sluice::apps

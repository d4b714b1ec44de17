// The program as one of many ranks: who the others are, and how a failure on one of them ends all of them
// with one line and one exit status.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice::apps {

/// The ranks of this job; before run_on_ranks() has found others, one.
Communicator& world();

/// Makes world() one of `ranks` that are only planned (make_planned), each on a machine of its own, for as
/// long as it lives.
class PlannedWorld {
 public:
  PlannedWorld(int rank, int ranks);
  PlannedWorld(const PlannedWorld&) = delete;
  PlannedWorld& operator=(const PlannedWorld&) = delete;
  ~PlannedWorld();

 private:
  std::unique_ptr<Communicator> other_;
};

/// What rank 0, or the first rank of a machine, begins under these names goes away even if the job ends by
/// force. All ranks call it, and none goes on before all have.
void cover_outputs(const std::vector<std::string>& paths, const std::string& scratch);

/// Held while an output is begun: a job that ends by force either removes it, or ends before it is there.
std::unique_lock<std::mutex> hold_end();
/// The job ends well by itself now: a request to stop comes too late.
void settle_end();
/// The same for all ranks of a job, before rank 0 gives results their names: none goes on before all know
/// that they may be there. One rank may still be lost, and is not said to have taken them along.
void expect_results();
/// Rank 0 has given them.
void confirm_results();

/// Runs `body` on this rank, and ends together with the others: if any rank failed, all return its exit
/// status and one of them prints its line (`sluice: rank 2: what is wrong`).
int run_on_ranks(const std::function<void()>& body) noexcept;

/// Throws UsageError unless all ranks bring the same `text`, which is a list of lines.
void require_same_on_all_ranks(const std::string& text);

}  // namespace sluice::apps

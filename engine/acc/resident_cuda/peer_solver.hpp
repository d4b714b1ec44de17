// Making a solver of a rank's part whose GPU, and those of all other ranks, reach each other's memory.
#pragma once

#include <memory>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/peer_memory.hpp"

namespace sluice::acc {

/// make(device) returns a solver, or throws BudgetError; `purpose` is what it takes memory for. Null, on all
/// ranks, where a GPU does not hold its rank's lists, or does not reach the memory of another. All ranks call
/// it. A plan gets none, but charges what one takes.
template <class Make>
auto make_on_peers(const AccGraph& graph, const char* purpose, const Make& make) {
  const Device& device = graph.device();
  const RankPart& part = graph.rank_part();
  Communicator& ranks = part.ranks();
  decltype(make(device)) solver;
  if (ranks.size() == 1 || ranks.size() > static_cast<int>(kMostPeers)) return solver;
  const auto make_here = [&](const Device& on) {
    lack_of_memory([&] {
      if (!part.has_pages(part.out())) solver = make(on);
    });
  };
  if (device.plans()) {  // what a run can do without is not asked for
    const std::uint64_t bytes = planned_bytes(device, [&](const Device& counting) {
      make_here(counting);
      solver.reset();
    });
    if (bytes <= device.memory().available()) device.memory().charge_and_release(bytes, purpose);
    return solver;
  }
  make_here(device);
  if (any_left(&ranks, solver ? 0 : 1, purpose) || !solver->connect()) solver.reset();
  return solver;
}

}  // namespace sluice::acc

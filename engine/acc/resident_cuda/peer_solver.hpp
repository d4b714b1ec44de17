// Makes a solver of a rank's part if the GPUs of all ranks access each other's memory.
#pragma once

#include <memory>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/peer_memory.hpp"

namespace sluice::acc {

/// make(device) returns a solver or throws BudgetError; `purpose` names its memory. Returns null, on all
/// ranks, if a GPU does not hold its rank's lists or cannot access another's memory. All ranks call it. A
/// plan charges the solver's memory, but returns null.
template <class Make>
auto make_on_peers(const AccGraph& graph, const char* purpose, const Make& make) {
  const Device& device = graph.device();
  const RankPart& part = graph.rank_part();
  Communicator& ranks = part.ranks();
  decltype(make(device)) solver;
  if (ranks.size() == 1 || ranks.size() > static_cast<int>(kMaxPeers)) return solver;
  const auto try_make = [&](const Device& target) {
    catch_budget_error([&] {
      if (!part.has_pages(part.out())) solver = make(target);
    });
  };
  if (device.is_planning()) {  // a plan does not require optional memory
    const std::uint64_t bytes = planned_bytes(device, [&](const Device& counting) {
      try_make(counting);
      solver.reset();
    });
    if (bytes <= device.memory().available()) device.memory().charge_and_release(bytes, purpose);
    return solver;
  }
  try_make(device);
  if (any_left(&ranks, solver ? 0 : 1, purpose) || !solver->connect()) solver.reset();
  return solver;
}

}  // namespace sluice::acc

// What a run gives those that grow its instances.
#pragma once

#include "engine/batch/starts_view.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// Of whole instances.
template <class Program>
struct PagedSetup {
  ResidentGraph::Impl& graph;
  const Program& program;
  RunStats& stats;
  DeviceRanks* link = nullptr;  ///< null: what ranks hand each other goes through their hosts
};

/// Of instances depth by depth.
template <class Program>
struct LevelSetup : PagedSetup<Program> {
  StartsView starts;
  bool revisit;       ///< tree semantics
  bool linear_asked;  ///< `--collision linear`
  bool collects;      ///< does a sink take the samples?
};

}  // namespace sluice::samples

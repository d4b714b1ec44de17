// What a run passes to the classes that grow its instances.
#pragma once

#include "engine/batch/starts_view.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

/// Setup of kinds in which a group grows a whole instance.
template <class Program>
struct PagedSetup {
  ResidentGraph::Impl& graph;
  const Program& program;
  RunStats& stats;
  DeviceRanks* link = nullptr;  ///< null: data between ranks passes through host memory
};

/// Setup of kinds that grow instances depth by depth.
template <class Program>
struct LevelSetup : PagedSetup<Program> {
  StartsView starts;
  bool revisit;       ///< tree semantics
  bool linear_requested;  ///< `--collision linear`
  bool has_sink;          ///< true if a sink receives the samples
};

}  // namespace sluice::samples

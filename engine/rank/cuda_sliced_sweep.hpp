// A sweep over in-edges that were rewritten for it, where the GPU has room for that.
#pragma once

#include <memory>

#include "engine/rank/sweep.hpp"

namespace sluice {

/// Whether there is room on the device, while in-edges are rewritten too.
bool sliced_rows_fit(const Device& device, const RankGraph& graph, const PageRankOptions& options);

/// Of one process, with all in-edges in host memory. Keeps a reference to the device.
std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph,
                                         const PageRankOptions& options);

}  // namespace sluice

// A sweep over in-edges rewritten as sliced rows (sliced_rows.cuh), if the GPUs have memory for them.
#pragma once

#include <memory>

#include "engine/exchange/nccl.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "engine/pagerank/static/sweep_pieces.hpp"

namespace sluice::pagerank {

/// A sweep by `ranks` that have a GPU each, connected by `link`, or by one rank (`link` null), in these
/// pieces. All ranks call it. Keeps a reference to the device.
std::unique_ptr<Sweep> sweep_sliced_rows(const Device& device, const RankGraph& graph, const Options& options,
                                         const SweepPieces& pieces, std::unique_ptr<DeviceRanks> link,
                                         Communicator& ranks, RankFusion fusion = RankFusion::none);

/// Returns null on all ranks if place.rows is `listed`, or if it is `automatic` and the in-edges, with those
/// being rewritten, do not fit, or the ranks' GPUs cannot be connected. `resident`: all of this rank's
/// in-edges can be on its GPU. All ranks call it. Throws UsageError if sliced rows are asked for but not
/// possible, or for too many pieces (sweep_pieces()). Keeps a reference to the device.
std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                         bool resident, const RankPlace& place, Communicator& ranks);

}  // namespace sluice::pagerank

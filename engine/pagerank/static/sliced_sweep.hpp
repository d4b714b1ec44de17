// A sweep over in-edges that were rewritten for it, where the GPUs have memory for that.
#pragma once

#include <memory>

#include "engine/exchange/nccl.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "engine/pagerank/static/sweep_pieces.hpp"

namespace sluice::pagerank {

/// By `ranks` that have a GPU each and a link between them, or alone (null), in these pieces. All ranks call
/// it. Keeps a reference to the device.
std::unique_ptr<Sweep> sweep_sliced_rows(const Device& device, const RankGraph& graph, const Options& options,
                                         const SweepPieces& pieces, std::unique_ptr<DeviceRanks> link,
                                         Communicator& ranks, RankFusion fusion = RankFusion::none);

/// Null, on all ranks, where rows are to be listed, or may be and in-edges do not fit while they are
/// rewritten too, or ranks cannot reach each other's GPU. `possible`: all of this rank's in-edges shall be
/// on its GPU. All ranks call it. Throws UsageError where sliced rows are asked for and
/// cannot be, or too many `pieces` (sweep_pieces()). Keeps a reference to the device.
std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                         bool possible, const RankPlace& place, Communicator& ranks);

}  // namespace sluice::pagerank

// Draws, sorts and deduplicates the edges of a synthetic graph on a GPU; the records equal those that the
// host's threads make.
#pragma once

#include "engine/exec/device.hpp"
#include "io/convert/sorted_edges.hpp"
#include "io/generate/edge_generator.hpp"

namespace sluice::io {

/// `device` is a GPU and outlives the result. If its memory cannot hold all edges together, each range of
/// sources that fits is drawn again whenever it is read. Throws BudgetError if not even the edges of the
/// smallest group of sources fit.
SortedInput sort_on_device(const Device& device, const EdgeGenerator& generator, const SortRequest& request);

}  // namespace sluice::io

// The edges of a synthetic graph drawn, sorted and freed of duplicates by a GPU: the records that the host's
// threads make.
#pragma once

#include "engine/exec/device.hpp"
#include "io/convert/sorted_edges.hpp"
#include "io/generate/edge_generator.hpp"

namespace sluice::io {

/// `device` is a GPU and outlives the result. Edges that its memory does not hold together are made anew for
/// every range of sources that it holds, as often as they are read. Throws BudgetError where it does not hold
/// those of the fewest sources.
SortedInput sort_on_device(const Device& device, const EdgeGenerator& generator, const SortRequest& request);

}  // namespace sluice::io

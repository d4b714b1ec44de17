// The smallest batch of samples that grow by depth, on a GPU: what a plan says of memory whose size no run
// knows beforehand.
#pragma once

#include <cstdint>

#include "engine/memory/resident_impl.hpp"
#include "engine/samples/options.hpp"

namespace sluice::samples {

/// Bytes of one instance of `seeds` seeds as BatchGrower grows it, by lists of average length.
std::uint64_t smallest_batch_bytes(const ResidentGraph::Impl& graph, const Options& options,
                                   std::uint64_t seeds);

}  // namespace sluice::samples

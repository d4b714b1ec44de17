// What the links between the ranks of a run carry: limits beside its figures, and parameters of the model of
// more ranks (page/rank_model.hpp).
#pragma once

#include <vector>

#include "apps/bench/bench.hpp"

namespace sluice::bench {

/// Adds figures `limit: ...`: GB a second that each rank receives while all send to all; microseconds of an
/// exchange of 8 bytes; and of GPUs that reach each other's memory, GB and G random reads a second while each
/// reads another's. Several ranks all call it. Throws BudgetError where memory does not suffice.
void measure_links(Device& device, const Options& options, std::vector<Figure>& figures);

}  // namespace sluice::bench

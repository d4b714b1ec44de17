// The rates of the links between the ranks of a run: limits for its figures, and parameters of the model of
// more ranks (page/rank_model.hpp).
#pragma once

#include <vector>

#include "apps/bench/bench.hpp"

namespace sluice::bench {

/// Adds figures `limit: ...`: GB a second that each rank receives while all send to all, and microseconds of
/// an exchange of 8 bytes. If GPUs can access each other's memory, also GB and G random reads a second while
/// each reads another's. Needs several ranks; all call it. Throws BudgetError if memory is insufficient.
void measure_links(Device& device, const Options& options, std::vector<Figure>& figures);

}  // namespace sluice::bench

// docs/papers.md: the experiments of the papers, with published figures and those of `sluice-bench papers`.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

/// `page`: how `runs` were made, and papers with their experiments, as in tests/bench/papers.json. An
/// experiment has `summary_table` (the published figures and Sluice's), a `verdict`, a `difference`, and
/// `notes` by subject. For each table it shows the newest run on a GPU and on the host, for each graph and
/// number of ranks. Throws InputError for a missing member.
std::string papers_page(const std::vector<Json>& reports, const Json& page);

}  // namespace sluice::bench

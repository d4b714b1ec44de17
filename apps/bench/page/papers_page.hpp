// docs/papers.md: experiments of the papers, what was published of them and what `sluice-bench papers`
// measured.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

/// `page`: how `runs` were made, and papers with their experiments, as tests/bench/papers.json has them. An
/// experiment has `in_short` (what was published, and Sluice's figures), a `verdict`, a `difference`, and
/// `notes` by their subjects. Of each table it shows the newest run on a GPU and on the host, of each graph
/// and number of ranks. Throws InputError where a member is missing.
std::string papers_page(const std::vector<Json>& reports, const Json& page);

}  // namespace sluice::bench

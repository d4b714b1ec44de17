// docs/papers.md: experiments of the papers, what was published of them and what `sluice-bench papers`
// measured.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

/// `papers`: an array of papers with their experiments, as tests/bench/papers.json has it. Throws InputError
/// where a member is missing.
std::string papers_page(const std::vector<Json>& reports, const Json& papers);

}  // namespace sluice::bench

// Writes docs/performance.md from reports of suites, and models many ranks from reports of jobs.
#pragma once

#include <memory>

#include "apps/cli/command_line.hpp"

namespace sluice::bench {

/// `sluice-bench page`
std::unique_ptr<apps::Command> make_page();
/// `sluice-bench ranks`
std::unique_ptr<apps::Command> make_ranks();

}  // namespace sluice::bench

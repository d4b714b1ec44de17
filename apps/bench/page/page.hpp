// docs/performance.md, written from reports of the suites; and a model of many ranks from reports of jobs.
#pragma once

#include <memory>

#include "apps/cli/command_line.hpp"

namespace sluice::bench {

/// `sluice-bench page`
std::unique_ptr<apps::Command> make_page();
/// `sluice-bench ranks`
std::unique_ptr<apps::Command> make_ranks();

}  // namespace sluice::bench

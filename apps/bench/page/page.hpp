// docs/performance.md, written from reports of the suites.
#pragma once

#include <memory>

#include "apps/cli/command_line.hpp"

namespace sluice::bench {

/// `sluice-bench page`
std::unique_ptr<apps::Command> make_page();

}  // namespace sluice::bench

// sluice-bench replay: replays a temporal edge list batch by batch.
#pragma once

#include <memory>

#include "apps/cli/command_line.hpp"

namespace sluice::bench {

std::unique_ptr<apps::Command> make_replay();

}  // namespace sluice::bench

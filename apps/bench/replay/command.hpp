// sluice-bench replay: a temporal edge list, batch by batch.
#pragma once

#include <memory>

#include "apps/cli/command_line.hpp"

namespace sluice::apps {

std::unique_ptr<Command> make_replay();

}  // namespace sluice::apps

// Options of any run over instances (CONTRACT section 4).
#pragma once

#include <cstdint>
#include <functional>

#include "engine/core/types.hpp"
#include "engine/graph/layout.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// Options that walks and samples share.
struct RunOptions {
  std::uint64_t seed = 1;
  Select select = Select::automatic;
  Layout layout = Layout::automatic;
  Instance first_instance = 0;            ///< `--instance-range A:B`
  Instance last_instance = ~Instance{0};  ///< exclusive; clipped to the number of instances
  /// Called between batches with the number of instances done and in total; may throw to stop.
  std::function<void(Instance done, Instance total)> progress;
};

/// Throws UsageError for layouts that a kind of run cannot read; the message begins with `reader`.
void require_plain_layout(Layout layout, const char* reader);

}  // namespace sluice

// What a user may ask of any run over instances (CONTRACT section 4).
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
  Instance last_instance = ~Instance{0};  ///< one behind the last; clipped to the number of instances
  /// Called between batches with instances done and in all; may throw to stop.
  std::function<void(Instance done, Instance total)> progress;
};

/// Throws UsageError for layouts that a kind of run cannot read; `who_reads` begins the reason.
void require_plain(Layout layout, const char* who_reads);

}  // namespace sluice

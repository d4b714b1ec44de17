// docs/goals.md: the goal of each figure, next to the values in reports.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

/// `goals` is a list of tables: `title`, `suite`, `device` (how its name begins), `ranks`, `scales`, and
/// `goals`. Each goal has a `figure` of a report (`NAME` of `NAME [UNIT]`, or `NAME: COLUMN`) and `least` or
/// `most`; optional are `name`, `unit` (of a column), its own `suite`, `minus` (a figure to subtract),
/// `binds` and `tried`. Throws InputError for a missing member.
std::string goals_page(const std::vector<Json>& reports, const Json& goals);

}  // namespace sluice::bench

// docs/goals.md: figures that were asked for, beside what reports measured of them.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

/// `goals` is a list of tables: `title`, `suite`, `device` (how its name begins), `ranks`, `scales`, and
/// `goals`, each a `figure` of a report (`NAME` of `NAME [UNIT]`, or `NAME: COLUMN`), `least` or `most`, and
/// `name`, `unit` (of a column), `suite` of its own, `minus` (a figure to take away), `binds` and `tried`
/// where it has them. Throws InputError where a member is missing.
std::string goals_page(const std::vector<Json>& reports, const Json& goals);

}  // namespace sluice::bench

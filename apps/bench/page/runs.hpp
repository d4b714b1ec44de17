// The text of pages about the runs of figures, and about figures of other systems.
#pragma once

#include <string>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

std::string suite_of(const Json& report);

/// Formats with four digits.
std::string number(double value);

/// A report's member NAME (a column of a figure), or `NAME [UNIT]` and its UNIT; null if it has neither.
const Json* find_figure(const Json& report, const std::string& name, std::string& unit);

/// `1. NVIDIA H100, 2026-11-23, commit f41b266: command; limits`
std::string run_line(std::size_t run_number, const Json& report);

/// A table of other systems' figures next to ours, one per row: `figure`, `sluice`, `peer`, `value`, `device`
/// and `source`, all strings. Empty without rows. Throws Json::exception for a missing member.
std::string peers_table(const Json& rows);

}  // namespace sluice::bench

// What pages say of the runs that their figures are from, and of those of other systems.
#pragma once

#include <string>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

std::string suite_of(const Json& report);

/// Four digits.
std::string number(double value);

/// A report's member NAME, as columns of figures are, or `NAME [UNIT]`, and UNIT; null: it has none.
const Json* find_figure(const Json& report, const std::string& name, std::string& unit);

/// `1. NVIDIA H100, 2026-11-23, commit f41b266: command; limits`
std::string run_line(std::size_t number_of_run, const Json& report);

/// Figures of other systems beside ours, a row each: `figure`, `sluice`, `peer`, `value`, `device` and
/// `source`, all of them text. Without a row it is empty. Throws Json::exception where a member is missing.
std::string peers_table(const Json& rows);

}  // namespace sluice::bench

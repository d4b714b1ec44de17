// What pages say of the runs that their figures are from.
#pragma once

#include <string>

#include "apps/bench/page/reports.hpp"

namespace sluice::bench {

std::string suite_of(const Json& report);

/// Four digits.
std::string number(double value);

/// `1. NVIDIA H100, 2026-11-23, commit f41b266: command; limits`
std::string run_line(std::size_t number_of_run, const Json& report);

}  // namespace sluice::bench

// The report of a job of many ranks, from those that each rank would have written alone.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace sluice::apps {

/// Counters are added up; times and peaks are the largest; rates follow from both. `by_rank` holds the least
/// and the largest of each figure over the ranks. What is no figure is the last rank's, whose share of the
/// instances is never the smaller.
nlohmann::ordered_json join_reports(const std::vector<nlohmann::ordered_json>& reports);

}  // namespace sluice::apps

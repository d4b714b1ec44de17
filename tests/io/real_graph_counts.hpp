// The counts of the real graphs, which were measured independently of the readers, if they are present.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "paths.hpp"

namespace sluice::test {

/// Counts by the graph's name; null if the graphs are absent.
inline nlohmann::json real_graph_counts() {
  const std::filesystem::path file = std::filesystem::path(paths::kSharedData) / "counts.json";
  nlohmann::json counts;
  if (std::filesystem::exists(file)) std::ifstream(file) >> counts;
  return counts;
}

}  // namespace sluice::test

#define REQUIRE_REAL_GRAPHS(counts)                                   \
  if ((counts).is_null())                                             \
  GTEST_SKIP() << "the real graphs are not at " << paths::kSharedData \
               << "; set SLUICE_SHARED_DATA to test them"

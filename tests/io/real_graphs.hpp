// Real graphs, read through the converter, if they are present.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "engine/core/error.hpp"
#include "io/convert/convert.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/real_graph_counts.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {

/// Calls body(graph) with each real graph of at most `most_edges` lines. Self-loops are kept; `rule(rules,
/// i)` sets the other rules of graph i. Skips the test without graphs, and fails it unless there are more
/// than `fewest`.
template <class Rule, class Body>
void for_each_real_graph(std::uint64_t most_edges, int fewest, const Rule& rule, const Body& body) {
  const std::filesystem::path data = paths::kSharedData;
  const nlohmann::json counts = real_graph_counts();
  REQUIRE_REAL_GRAPHS(counts);
  const TemporaryFolder folder;
  int compared = 0;

  for (const auto& [name, entry] : counts.items()) {
    if (!entry.at("stat").is_object() || entry.at("stat").at("edge_lines") > most_edges) continue;
    SCOPED_TRACE(name);
    io::ConvertOptions rules;
    rules.keep_self_loops = true;
    rules.force = true;
    rule(rules, compared);
    try {
      io::convert(*io::open_edge_file((data / name).string(), {}), folder / "graph.h5", rules);
    } catch (const InputError&) {
      continue;  // reader tests cover files that are refused
    }
    body(io::read_graph(folder / "graph.h5", {.in = rules.reverse && !rules.undirected}));
    ++compared;
  }
  EXPECT_GT(compared, fewest);
}

}  // namespace sluice::test

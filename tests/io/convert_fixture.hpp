// Helpers of conversion tests: an edge source in memory, and a folder that must end up clean. A reference
// implementation with maps and sets does what the converter does out of core.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "io/convert/convert.hpp"
#include "io/convert/uniform_weight.hpp"
#include "io/graph_file/graph_file.hpp"
#include "temporary_folder.hpp"

namespace sluice::io {

struct InputEdge {
  std::uint64_t source, target;
  float weight = 1;
  std::int64_t time = 0;
};

/// Emits edges from memory in batches of a given size; throws after `fail_after` edges.
class MemorySource final : public EdgeStream {
 public:
  MemorySource(std::vector<InputEdge> edges, EdgeStreamInfo info, std::size_t batch = 1000)
      : edges_(std::move(edges)), info_(std::move(info)), batch_(batch) {}

  const EdgeStreamInfo& info() const override { return info_; }
  bool next(EdgeBatch& batch) override {
    batch.clear();
    if (next_ >= fail_after) throw InputError("edges.txt:17: not a number");
    for (; next_ < edges_.size() && batch.size() < batch_; ++next_) {
      const InputEdge& edge = edges_[next_];
      batch.source.push_back(edge.source);
      batch.target.push_back(edge.target);
      if (info_.weighted) batch.weight.push_back(edge.weight);
      if (info_.timed) batch.time.push_back(edge.time);
    }
    return batch.size() > 0;
  }

  std::size_t fail_after = ~std::size_t{0};

 private:
  std::vector<InputEdge> edges_;
  EdgeStreamInfo info_;
  std::size_t batch_, next_ = 0;
};

inline std::vector<InputEdge> random_edges(std::uint64_t vertices, std::size_t edges, unsigned seed,
                                           std::uint64_t stretch = 1) {
  std::mt19937_64 random(seed);
  std::vector<InputEdge> result;
  for (std::size_t i = 0; i < edges; ++i) {
    const std::uint64_t u = random() % vertices * stretch, v = random() % vertices * stretch;
    result.push_back(
        {u, v, static_cast<float>(random() % 1000) / 8, static_cast<std::int64_t>(random() % 50) - 25});
  }
  return result;
}

/// One edge of the reference graph; rows are sorted by (target, weight, time).
struct ReferenceEdge {
  std::uint64_t target;
  float weight;
  std::int64_t time;
  bool operator==(const ReferenceEdge&) const = default;
};

struct Reference {
  std::vector<std::vector<ReferenceEdge>> out, in;
  std::vector<std::uint64_t> original_ids;  ///< empty unless compacted
  std::uint64_t self_loops = 0, duplicates = 0, edges = 0;
};

inline Reference make_reference(const std::vector<InputEdge>& input, const EdgeStreamInfo& info,
                                const ConvertOptions& options) {
  const bool undirected = options.undirected || info.undirected;
  Reference result;
  std::set<std::uint64_t> used;
  std::map<std::uint64_t, std::map<std::uint64_t, std::vector<ReferenceEdge>>> rows;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const InputEdge& edge : input) {
    used.insert({edge.source, edge.target});
    if (edge.source == edge.target && !options.keep_self_loops) {
      ++result.self_loops;
      continue;
    }
    auto ends = std::pair(edge.source, edge.target);
    if (undirected) ends = std::minmax(edge.source, edge.target);
    if (!seen.insert(ends).second && !options.keep_duplicates && !options.timestamps) {
      ++result.duplicates;
      continue;
    }
    rows[edge.source][edge.target].push_back({edge.target, edge.weight, edge.time});
    if (undirected && edge.source != edge.target) {
      rows[edge.target][edge.source].push_back({edge.source, edge.weight, edge.time});
    }
  }
  const std::uint64_t range = std::max(info.vertices.value_or(0), used.empty() ? 0 : *used.rbegin() + 1);
  const bool compact = options.compact.value_or(!used.empty() && used.size() * 2 < range);
  std::map<std::uint64_t, std::uint64_t> rank;
  for (const std::uint64_t id : used) rank.emplace(id, rank.size());
  if (compact) result.original_ids.assign(used.begin(), used.end());
  const auto final_id = [&](std::uint64_t id) { return compact ? rank[id] : id; };
  result.out.resize(compact ? used.size() : range);
  result.in.resize(result.out.size());
  for (const auto& [source, targets] : rows) {
    for (const auto& [target, edges] : targets) {
      for (ReferenceEdge edge : edges) {
        const std::uint64_t u = final_id(source), v = final_id(target);
        if (options.weights == WeightRule::none) edge.weight = 1;
        if (options.weights == WeightRule::uniform) {
          edge.weight = uniform_weight(options.seed, static_cast<Vertex>(u), static_cast<Vertex>(v));
        }
        if (!options.timestamps) edge.time = 0;
        result.out[u].push_back({v, edge.weight, edge.time});
        result.in[v].push_back({u, edge.weight, edge.time});
        ++result.edges;
      }
    }
  }
  return result;
}

inline void expect_rows(const Csr& csr, const std::vector<std::vector<ReferenceEdge>>& rows) {
  ASSERT_EQ(csr.vertices(), rows.size());
  for (std::size_t v = 0; v < rows.size(); ++v) {
    std::vector<ReferenceEdge> row;
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
      row.push_back(
          {csr.targets[i], csr.weights.empty() ? 1 : csr.weights[i], csr.times.empty() ? 0 : csr.times[i]});
    }
    ASSERT_EQ(row, rows[v]) << "vertex " << v;
  }
}

/// A folder for each test, removed afterwards.
class ConvertTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::size_t files() const { return folder_.entries(); }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace sluice::io

// From a stream of edges to a graph file, within a memory budget: external sort, de-duplication, compaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/edge_source.hpp"
#include "partition/graph.hpp"

namespace sluice::io {

enum class WeightRule {
  none,
  column,
  uniform
};  ///< uniform: random in (0,1], a function of seed, smaller and larger id

struct ConvertOptions {
  bool undirected = false;  ///< store both directions (also set by the source's own info)
  bool keep_self_loops = false;
  bool keep_duplicates = false;  ///< graphs with times keep all anyway
  WeightRule weights = WeightRule::none;
  bool timestamps = false;
  std::optional<bool> compact;  ///< unset: on when more than half of the id range is unused
  bool reverse = false;         ///< also store in-edges
  std::uint64_t seed = 1;
  std::string scratch;  ///< folder for sort runs; empty: beside the output, or the system's for such files
  unsigned threads = 1;
  bool force = false;
  /// Called now and then with a phase name and a fraction in [0,1].
  std::function<void(const char* phase, double fraction)> progress;
  /// Called when the file is complete but for its name; there is no output if it throws.
  std::function<void(const struct ConvertStats&)> completed;
};

/// With so much host memory anything is converted, with less nothing.
inline constexpr std::uint64_t kMinConversionMemory = 32u << 20;
/// Throws BudgetError where the host budget has less than that left: before the input is opened.
void require_conversion_memory();

/// What became of the edges; said to the user and reported.
struct ConvertStats {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  ///< as stored (both directions counted where undirected)
  std::uint64_t input_edges = 0;
  std::uint64_t self_loops = 0;    ///< dropped
  std::uint64_t duplicates = 0;    ///< dropped
  std::uint64_t unused_ids = 0;    ///< dropped by compaction
  std::uint64_t isolated_ids = 0;  ///< in no edge, and kept; not counted with compaction off
  std::uint64_t first_id = 0;      ///< the smallest in an edge; 0 where isolated_ids is not counted
  std::uint64_t sort_runs = 0;     ///< runs spilled to scratch; 0: sorted in memory
  bool compacted = false;
  std::uint64_t checksum = 0;
  std::uint64_t file_bytes = 0;
  double load_seconds = 0, sort_seconds = 0, write_seconds = 0;  ///< together all of convert()
};

/// Converts; the bytes of the file are the same for any memory, threads and number of runs.
ConvertStats convert(EdgeStream& source, const std::string& output, const ConvertOptions& options);

/// The graph that read_graph() reads of that file, but for its checksum, which stays 0. The sort takes half
/// of the free host memory at the most, and leaves runs in `scratch` only beyond. `force` and `completed` are
/// without meaning. `stats`, if not null, is filled in. Throws as convert().
Graph convert_in_memory(EdgeStream& source, const ConvertOptions& options, ConvertStats* stats = nullptr);

}  // namespace sluice::io

// The graph file (CONTRACT section 3): an HDF5 file that SciPy, AnnData, PyG and DGL users load as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "engine/core/host_memory.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/device.hpp"
#include "io/file_bytes.hpp"
#include "partition/graph.hpp"

namespace sluice::io {

/// Header facts of a graph file, known without reading its edges.
struct GraphInfo {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = true;
  bool weighted = false;
  bool timed = false;
  bool compacted = false;  ///< holds /vertices/original_id
  bool has_in = false;     ///< holds /in
  std::uint64_t checksum = 0;
  std::string origin;  ///< command line or names of the source files
};

/// The columns that are read of a file's edges besides the targets of /out.
struct GraphColumns {
  bool in = false;                    ///< also read /in; a file without it is refused
  bool weights = true, times = true;  ///< read if the file has them; else the graph has none

  /// The header facts of `file`, without the columns that are not read.
  GraphInfo select_from(GraphInfo file) const {
    file.weighted = file.weighted && weights, file.timed = file.timed && times;
    return file;
  }
};

/// Writes a graph file piece by piece, so that no graph need fit in memory. Datasets are contiguous,
/// little-endian and allocated early; block checksums are computed while data is written. The file gets its
/// final name only in commit().
class GraphWriter {
 public:
  /// `info.edges` and `info.vertices` must be final. Throws UsageError if `path` exists and `force` is false.
  GraphWriter(const std::string& path, const GraphInfo& info, bool force);
  ~GraphWriter();  ///< without commit(): removes the temporary file
  GraphWriter(GraphWriter&&) noexcept;

  /// Appends to /out (in = false) or /in (in = true). Successive calls write successive entries.
  void append_offsets(std::span<const EdgeIndex> offsets, bool in = false);
  void append_targets(std::span<const Vertex> targets, bool in = false);
  void append_weights(std::span<const float> weights, bool in = false);
  void append_times(std::span<const std::int64_t> times, bool in = false);
  void append_original_ids(std::span<const std::int64_t> ids);

  /// Checks that every dataset is complete, writes the checksums and calls fsync; only the rename remains.
  /// Returns the graph's checksum.
  std::uint64_t finish();
  /// Calls finish() if it was not called yet, then renames the file. Returns the graph's checksum.
  std::uint64_t commit();
  /// Current size of the temporary file in bytes.
  std::uint64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads the header of a graph file; throws InputError with one line naming the file and what is wrong.
GraphInfo read_graph_info(const std::string& path);

/// Reads a whole graph into host memory and makes the cheap checks (shapes, monotone offsets, targets in
/// range, finite non-negative weights). Throws InputError naming file, dataset and position; BudgetError if
/// the graph does not fit. Files of other tools are accepted if their sluice_format attribute says "graph".
/// `memory` allocates the arrays; null: they are this process's own.
Graph read_graph(const std::string& path, const GraphColumns& columns = {}, unsigned threads = usable_cores(),
                 HostMemory* memory = nullptr);

/// As read_graph, but the out-edge arrays are not filled yet: Graph::pending_edges reads them. ResidentGraph,
/// AccGraph and run_pagerank() do so and process lists as they arrive; for any other use, read them first.
Graph begin_reading(const std::string& path, const GraphColumns& columns = {},
                    unsigned threads = usable_cores(), HostMemory* memory = nullptr);

/// The graph that read_graph() (without `edges`: open_graph()) makes of such a file, with unfilled arrays.
Graph make_graph(const GraphInfo& info, const GraphColumns& columns, HostMemory* memory, bool edges = true);

/// Bytes of host memory of the graph that read_graph() makes of such a file.
std::uint64_t graph_bytes(const GraphInfo& info, const GraphColumns& columns = {});

/// A graph for plans: a graph file whose edges are not read, or a graph without a file. Offsets and original
/// ids are memory-mapped and take no budget (if another tool's file cannot be mapped, they are read).
class GraphOutline {
 public:
  using Arrays = std::map<std::string, std::shared_ptr<void>, std::less<>>;  ///< keyed by purpose
  using Charged = std::function<std::uint64_t(std::uint64_t bytes)>;

  /// Throws InputError as read_graph() does; BudgetError if memory cannot hold the arrays that must be read.
  GraphOutline(const std::string& path, const GraphColumns& columns, unsigned threads = usable_cores());
  /// A graph of these header facts without a file; its lists are about equally long. Throws BudgetError.
  explicit GraphOutline(const GraphInfo& info);

  /// The graph that read_graph() (without `edges`: open_graph()) makes of the file, with no more columns than
  /// the outline's. Edge arrays have no memory: an access faults. An array of `bytes` is charged
  /// charged(bytes). The graph stays valid after the outline is destroyed.
  Graph graph(const GraphColumns& columns, bool edges, const Charged& charged) const;

 private:
  GraphInfo info_;
  Arrays arrays_;
  std::shared_ptr<const EdgeSource> out_, in_;
};

/// As read_graph, but leaves the edges in the file: Graph::edge_source (and in_edge_source) reads them.
/// Targets and weights are checked as they are read. Use Caching::none if the graph exceeds host memory.
Graph open_graph(const std::string& path, const GraphColumns& columns = {}, Caching caching = Caching::system,
                 unsigned threads = usable_cores());

/// Result of check_graph() for a file without faults.
struct GraphCheck {
  GraphInfo info;
  bool has_checksums =
      false;  ///< false: another tool wrote the file, and only the structure could be checked
};

/// Reads the whole file and verifies the checksums of all blocks and the structure (sorted lists, symmetric
/// if undirected, /in equal to /out, original ids distinct). Holds the offsets in memory, not the edges.
/// Throws InputError at the first fault.
GraphCheck check_graph(const std::string& path, unsigned threads = usable_cores());

/// Header facts of the file that this graph would have, without its checksum.
GraphInfo info_of(const Graph& graph);

/// Least bytes of host memory that a thread takes for the checksum of edges in a file.
constexpr std::uint64_t kMinChecksumBytes = 8u << 10;
/// The checksum that write_graph() would return for this graph.
std::uint64_t graph_checksum(const Graph& graph, unsigned threads = usable_cores());

/// Writes all datasets of a graph; the caller then calls finish() and commit().
GraphWriter begin_graph(const std::string& path, const Graph& graph, bool force);

/// Writes and commits a graph file. Returns the graph's checksum.
std::uint64_t write_graph(const std::string& path, const Graph& graph, bool force);

}  // namespace sluice::io

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

/// What a graph file says of itself, without reading the edges.
struct GraphInfo {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = true;
  bool weighted = false;
  bool timed = false;
  bool compacted = false;  ///< holds /vertices/original_id
  bool has_in = false;     ///< holds /in
  std::uint64_t checksum = 0;
  std::string origin;  ///< where it came from: command line or source file names
};

/// What is read of a file's edges beside the targets of /out.
struct GraphColumns {
  bool in = false;                    ///< /in, too; a file without it is refused
  bool weights = true, times = true;  ///< where the file has them; else the graph that is read has none

  /// What the graph that is read of a file has.
  GraphInfo of(GraphInfo file) const {
    file.weighted = file.weighted && weights, file.timed = file.timed && times;
    return file;
  }
};

/// Writes a graph file piece by piece, so that no graph need fit in memory. Datasets are contiguous,
/// little-endian and allocated early; block checksums are computed on the way. The file has its final name
/// only after commit().
class GraphWriter {
 public:
  /// `info.edges` and `info.vertices` must be final; throws UsageError if `path` exists and not `force`.
  GraphWriter(const std::string& path, const GraphInfo& info, bool force);
  ~GraphWriter();  ///< without commit(): removes the temporary file
  GraphWriter(GraphWriter&&) noexcept;

  /// Appends to /out (in = false) or /in (in = true); calls append in order until all is written.
  void append_offsets(std::span<const EdgeIndex> offsets, bool in = false);
  void append_targets(std::span<const Vertex> targets, bool in = false);
  void append_weights(std::span<const float> weights, bool in = false);
  void append_times(std::span<const std::int64_t> times, bool in = false);
  void append_original_ids(std::span<const std::int64_t> ids);

  /// Checks that every dataset is complete, writes checksums, fsyncs: after it nothing but the name is
  /// missing. Returns the graph's checksum.
  std::uint64_t finish();
  /// finish() unless that was called, and renames. Returns the same.
  std::uint64_t commit();
  /// What the file has by then.
  std::uint64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads the header of a graph file; throws InputError with one line naming the file and what is wrong.
GraphInfo read_graph_info(const std::string& path);

/// Reads a whole graph into host memory, checking what is cheap (shapes, monotone offsets, targets in range,
/// finite non-negative weights). Throws InputError naming file, dataset and position; BudgetError if it does
/// not fit. Files of other tools are read too, as long as they call themselves a graph. The arrays come from
/// `memory` where it is given.
Graph read_graph(const std::string& path, const GraphColumns& columns = {}, unsigned threads = usable_cores(),
                 HostMemory* memory = nullptr);

/// As read_graph, but out-edges have only their arrays, and Graph::to_come reads them. A ResidentGraph, an
/// AccGraph and run_pagerank() do, and work on lists as they come; for anything else read them before. Until
/// they are read, `ahead`, if there is one, goes on.
Graph begin_reading(const std::string& path, const GraphColumns& columns = {},
                    unsigned threads = usable_cores(), HostMemory* memory = nullptr,
                    std::unique_ptr<ReadAhead> ahead = nullptr);

/// The graph that read_graph(), or without `edges` open_graph(), makes of such a file, its arrays not filled.
Graph make_graph(const GraphInfo& info, const GraphColumns& columns, HostMemory* memory, bool edges = true);

/// Bytes of host memory that the graph takes which read_graph() makes of such a file.
std::uint64_t graph_bytes(const GraphInfo& info, const GraphColumns& columns = {});

/// A graph file as plans see it. Offsets and original ids are looked up where they lie in the file, and take
/// no memory (of another tool's file, all of them are read). Or a graph without a file.
class GraphOutline {
 public:
  using Arrays = std::map<std::string, std::shared_ptr<void>, std::less<>>;  ///< by their purpose
  using Charged = std::function<std::uint64_t(std::uint64_t bytes)>;

  /// Throws InputError as read_graph(), BudgetError where memory does not hold what has to be read.
  GraphOutline(const std::string& path, const GraphColumns& columns, unsigned threads = usable_cores());
  /// Of a graph that would have a file of these facts, with lists about equally long. Throws BudgetError.
  explicit GraphOutline(const GraphInfo& info);

  /// The graph that read_graph() makes of the file, or without `edges` open_graph(), of no more columns than
  /// the outline's. Edges are not there: a touch faults. Arrays that take `bytes` are charged charged(bytes).
  /// It outlives the outline.
  Graph graph(const GraphColumns& columns, bool edges, const Charged& charged) const;

 private:
  GraphInfo info_;
  Arrays arrays_;
  std::shared_ptr<const EdgeSource> out_, in_;
};

/// As read_graph, but leaves the edges in the file: Graph::edges_elsewhere (and in_elsewhere) reads them.
/// Targets and weights are checked as they are read. A graph that memory does not hold wants Caching::none.
Graph open_graph(const std::string& path, const GraphColumns& columns = {}, Caching caching = Caching::system,
                 unsigned threads = usable_cores());

/// What check_graph() found in a file without a fault.
struct GraphCheck {
  GraphInfo info;
  bool has_checksums =
      false;  ///< false: another tool wrote the file, and only the structure could be checked
};

/// Reads everything and verifies checksums of all blocks and the structure (sorted lists, symmetric if
/// undirected, /in equal to /out, original ids ascending). Holds the offsets in memory, not the edges. Throws
/// InputError at the first fault.
GraphCheck check_graph(const std::string& path, unsigned threads = usable_cores());

/// What the file of a graph in memory says of itself; its checksum is not found out.
GraphInfo info_of(const Graph& graph);

/// Of host memory that a thread takes at least for the checksum of edges in a file.
constexpr std::uint64_t kLeastChecksumBytes = 8u << 10;
/// The checksum that write_graph() would give a graph.
std::uint64_t graph_checksum(const Graph& graph, unsigned threads = usable_cores());

/// Writes a graph that lies in memory; what is left is to finish and to commit.
GraphWriter begin_graph(const std::string& path, const Graph& graph, bool force);

/// Writes a graph that lies in memory. Returns its checksum.
std::uint64_t write_graph(const std::string& path, const Graph& graph, bool force);

}  // namespace sluice::io

// Edges as they come from a file or a generator, in input order, batch by batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/charged_vector.hpp"
#include "io/convert/sorted_edges.hpp"

namespace sluice::io {

/// A run of consecutive edges of the input, as columns. `weight` and `time` are empty or as long as `source`.
/// The memory is charged to the host budget.
struct EdgeBatch {
  static constexpr const char* kPurpose = "a batch of input edges";

  ChargedVector<std::uint64_t> source{ChargedAllocator<std::uint64_t>(kPurpose)};
  ChargedVector<std::uint64_t> target{ChargedAllocator<std::uint64_t>(kPurpose)};
  ChargedVector<float> weight{ChargedAllocator<float>(kPurpose)};
  ChargedVector<std::int64_t> time{ChargedAllocator<std::int64_t>(kPurpose)};

  std::size_t size() const { return source.size(); }
  void clear() { source.clear(), target.clear(), weight.clear(), time.clear(); }
};

/// What the input says of itself, known once the header was read (before the first batch).
struct EdgeSourceInfo {
  std::optional<std::uint64_t> vertices;  ///< declared vertex count; without it: largest id + 1
  bool undirected = false;  ///< the format says so (METIS, Matrix Market symmetric): store both directions
  bool weighted = false;
  bool timed = false;
  std::string origin;                  ///< for the graph file's root attribute
  std::uint64_t undirected_title = 0;  ///< the line of a title or comment that says so; 0: none does
};

/// A stream of edges. Ids are 0-based when they leave here. Faults throw InputError ("FILE:LINE: what,
/// remedy"). What a source needs is charged once the first batch is there: later ones take no more.
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  virtual const EdgeSourceInfo& info() const = 0;
  /// Fills `batch` with the next edges in input order; false at the end.
  virtual bool next(EdgeBatch& batch) = 0;
  /// All edges sorted, in place of next(), from a source that has a faster way than reading them.
  virtual SortedInput sort(const SortRequest&) { return {}; }
  /// Bytes of input consumed and in all (compressed bytes for .gz), for progress; {0, 0} if unknown.
  virtual std::pair<std::uint64_t, std::uint64_t> progress() const { return {0, 0}; }
  /// Of its files, once next() has returned false.
  virtual std::uint64_t bytes_read() const { return progress().second; }
  /// One line for the user about something odd but harmless ("no 'p' line: ids taken as they are"), or empty.
  /// Complete once next() has returned false: some oddities show only at the end of the file.
  virtual std::string remark() const { return {}; }
};

enum class EdgeFormat { automatic, edges, mtx, metis, dimacs, binary };
enum class WeightColumn { none, column };

struct ReadOptions {
  EdgeFormat format = EdgeFormat::automatic;
  WeightColumn weights = WeightColumn::none;
  bool timestamps = false;             ///< third column (fourth, with weights = column) kept as time
  bool may_be_empty = false;           ///< a file without edges is none that was named by mistake
  unsigned threads = 1;                ///< parsers
  std::size_t batch_bytes = 8u << 20;  ///< parsed at a time, per thread, where memory holds that
  /// What is said where a weight or a time that was asked for is not there; the caller knows the remedy.
  std::string weight_remedy = "every edge needs one, or leave --weights column out";
  std::string time_remedy = "every edge needs one, or leave --timestamps out";
  /// Where there are neither.
  const std::string& remedy() const { return weights == WeightColumn::column ? weight_remedy : time_remedy; }
};

/// Bytes of host memory that a reader takes at the most: a quarter of what is free when it is opened.
inline std::uint64_t reader_memory() {
  return host_budget().available() / 4;
}

/// Opens a text, Matrix Market, METIS, DIMACS or binary edge file (`.gz` as it is).
///
/// The format is known by the file's beginning and its name: `.mtx` (with its banner), `.graph` and `.metis`,
/// `.gr`,
/// `.bin`, `.u32`, `.u64`; `.el`, `.wel`, `.txt`, `.csv`, `.tsv`, `.edges`, `.edgelist`, `.snap` or any name
/// whose first line is two numbers is an edge list; what is none of these is refused. Binary files are raw
/// little-endian pairs (source, target), without a header: 64-bit ids if the name ends in `.u64`, else 32-bit
/// ids. METIS files list every edge at both ends, and one comes out. The source takes reader_memory() at the
/// most, charged here, and more only where a single line is longer than a block.
std::unique_ptr<EdgeSource> open_edge_file(const std::string& path, const ReadOptions& options);

}  // namespace sluice::io

// Streams of edges from a file or a generator: batches in input order.
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

/// Facts that the input declares, known once its header was read (before the first batch).
struct EdgeStreamInfo {
  std::optional<std::uint64_t> vertices;  ///< declared vertex count; without it: largest id + 1
  bool undirected = false;  ///< the format says so (METIS, Matrix Market symmetric): store both directions
  bool weighted = false;
  bool timed = false;
  std::string origin;                  ///< for the graph file's root attribute
  std::uint64_t undirected_title = 0;  ///< line of a title or comment that says undirected; 0: none
};

/// A stream of edges with 0-based ids. Faults throw InputError ("FILE:LINE: what, remedy"). All memory of a
/// source is charged by the time the first batch is delivered; later batches take no more.
class EdgeStream {
 public:
  virtual ~EdgeStream() = default;
  virtual const EdgeStreamInfo& info() const = 0;
  /// Fills `batch` with the next edges in input order; returns false at the end.
  virtual bool next(EdgeBatch& batch) = 0;
  /// Returns all edges sorted, in place of next(), if the source has a faster way than reading them.
  virtual SortedInput sort(const SortRequest&) { return {}; }
  /// Bytes of input consumed and in all (compressed bytes for .gz), for progress; {0, 0} if unknown.
  virtual std::pair<std::uint64_t, std::uint64_t> progress() const { return {0, 0}; }
  /// Bytes read from its files; valid once next() has returned false.
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
  bool may_be_empty = false;           ///< accept a file without edges
  unsigned threads = 1;                ///< number of parsers
  std::size_t batch_bytes = 8u << 20;  ///< parsed at a time per thread, if memory allows
  /// Remedies for a missing weight or time, shown in the message; the caller knows the right option.
  std::string weight_remedy = "every edge needs one, or omit --weights column";
  std::string time_remedy = "every edge needs one, or omit --timestamps";
  /// The remedy for a format that has neither weights nor times.
  const std::string& remedy() const { return weights == WeightColumn::column ? weight_remedy : time_remedy; }
};

/// Most bytes of host memory that a reader takes: a quarter of the budget that is free when it is opened.
inline std::uint64_t reader_memory() {
  return host_budget().available() / 4;
}

/// Opens a text, Matrix Market, METIS, DIMACS or binary edge file, plain or gzip-compressed.
///
/// The name and the first bytes of the file determine its format: `.mtx` (with its banner); `.graph` and
/// `.metis`; `.gr`; `.bin`, `.u32` and `.u64`. Edge lists are `.el`, `.wel`, `.txt`, `.csv`, `.tsv`,
/// `.edge`, `.edges`, `.edgelist`, `.snap` and any name whose first line is two numbers. Other files are
/// refused. Binary files are raw little-endian pairs (source, target) without a header: 64-bit ids if the
/// name ends in
/// `.u64`, else 32-bit ids. METIS files list every edge at both ends; the source delivers it once. The source
/// takes at most reader_memory(), charged here, and more only if a single line is longer than a block.
std::unique_ptr<EdgeStream> open_edge_file(const std::string& path, const ReadOptions& options);

}  // namespace sluice::io

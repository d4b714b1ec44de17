// Names and sizes of the graph file's datasets, shared by the writer, the reader and the check.
#pragma once

#include <cstdint>
#include <limits>

#include "io/checksum.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

inline constexpr std::int64_t kGraphVersion = 1;
/// One checksum covers this many bytes of a dataset (the last block of a dataset is shorter). Recorded in the
/// file.
inline constexpr std::uint64_t kChecksumBlock = 4u << 20;
inline constexpr const char* kChecksumAlgorithm = "sluice-lane4-64";

inline constexpr std::uint64_t checksum_blocks(std::uint64_t bytes) {
  return (bytes + kChecksumBlock - 1) / kChecksumBlock;
}

/// Whether the file stores vertex ids as i64, since i32 cannot number all vertices.
inline constexpr bool needs_wide_ids(std::uint64_t vertices) {
  return vertices > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
}

/// The datasets that have block checksums, in the order in which these enter the graph's checksum.
enum class GraphPart {
  out_indptr,
  out_indices,
  out_data,
  out_times,
  in_indptr,
  in_indices,
  in_data,
  in_times,
  original_id
};
inline constexpr int kGraphParts = 9;

/// The path of a dataset below "/" and below "/checksums/", for example "out/indptr".
inline const char* part_name(GraphPart part) {
  static constexpr const char* kNames[kGraphParts] = {"out/indptr", "out/indices", "out/data",
                                                      "out/times",  "in/indptr",   "in/indices",
                                                      "in/data",    "in/times",    "vertices/original_id"};
  return kNames[static_cast<int>(part)];
}

/// `part` of /out, or the same part of /in.
inline constexpr GraphPart part_of(GraphPart part, bool in) {
  return static_cast<GraphPart>(static_cast<int>(part) + (in ? static_cast<int>(GraphPart::in_indptr) : 0));
}

inline constexpr bool is_in_part(GraphPart part) {
  return part >= GraphPart::in_indptr && part <= GraphPart::in_times;
}

/// Combines header facts and the block checksums of /out and /vertices into the graph's checksum. In-edges
/// follow from the out-edges and the origin is only a remark, so neither is included.
class GraphChecksum {
 public:
  explicit GraphChecksum(const GraphInfo& info) {
    for (const std::uint64_t fact :
         {static_cast<std::uint64_t>(kGraphVersion), info.vertices, info.edges,
          static_cast<std::uint64_t>(info.directed), static_cast<std::uint64_t>(info.weighted),
          static_cast<std::uint64_t>(info.timed), static_cast<std::uint64_t>(info.compacted)}) {
      add(fact);
    }
  }
  void add(std::uint64_t word) { sum_.update(std::as_bytes(std::span(&word, 1))); }
  std::uint64_t value() const { return sum_.value(); }

 private:
  Checksum sum_;
};

}  // namespace sluice::io

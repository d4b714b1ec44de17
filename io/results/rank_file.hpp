// PageRank scores that an earlier run wrote (CONTRACT section 3, PageRank).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/host_array.hpp"

namespace sluice::io {

/// Contents of the file; attributes that the file lacks are empty.
struct RankFile {
  HostArray<double> ranks;  ///< [vertices of their graph]
  std::string graph_checksum;
  std::string dangling;
  std::optional<bool> weighted;
  std::string norm;
  std::optional<double> damping, tolerance, frontier_tolerance, prune_tolerance;
  std::optional<bool> converged;
};

/// Reads an HDF5 file with a dataset /rank of `vertices` numbers. Throws InputError with one line that names
/// the file, what is wrong and the remedy.
RankFile read_rank_file(const std::string& path, std::uint64_t vertices);

}  // namespace sluice::io

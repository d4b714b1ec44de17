// A file that shows the result files of several ranks as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/results/result_writer.hpp"

namespace sluice::io {

/// One of the files to be joined.
struct ShardFile {
  std::string path;  ///< where it lies now
  std::string name;  ///< where it will lie, relative to the folder of the joining file
};

/// The attribute of the joining file that names the others, relative to its folder: a line each.
inline constexpr const char* kShardNames = "shards";

/// Writes to `path` an HDF5 file whose datasets are virtual: the shards' rows, one shard after the other,
/// which stay where they are. `offsets` names the datasets that hold ends of lists; those go on from shard to
/// shard, so they are written out. Ids that a missing shard would hold read as the smallest number there is.
/// Throws RunError naming `known_as`. Returns the bytes written.
std::uint64_t join_shards(const std::string& path, const std::string& known_as,
                          const std::vector<ShardFile>& shards, const std::vector<Attribute>& attributes,
                          const std::vector<std::string>& offsets);

}  // namespace sluice::io

// Makes a file that presents the result files of several ranks as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/results/result_writer.hpp"

namespace sluice::io {

/// One of the files to be joined.
struct ShardFile {
  std::string path;  ///< current path
  std::string name;  ///< final path, relative to the folder of the joining file
};

/// The attribute of the joining file that lists the shards, one a line, relative to its folder.
inline constexpr const char* kShardNames = "shards";

/// Writes to `path` an HDF5 file of virtual datasets: the rows of all shards, one shard after the other,
/// which stay in the shards' files. `offsets` names the datasets that hold offsets of lists; these continue
/// from shard to shard, so they are written out. Ids of a missing shard read as the smallest number of their
/// type. Throws RunError naming `display_path`. Returns the bytes written.
std::uint64_t join_shards(const std::string& path, const std::string& display_path,
                          const std::vector<ShardFile>& shards, const std::vector<Attribute>& attributes,
                          const std::vector<std::string>& offsets);

}  // namespace sluice::io

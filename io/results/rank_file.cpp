#include "io/results/rank_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "engine/core/error.hpp"
#include "io/hdf5.hpp"
#include "io/results/join_shards.hpp"

namespace sluice::io {
namespace {

constexpr const char* kRemedy = "use a file that 'sluice pagerank --output' wrote as HDF5";

template <class Value, class Read = Value>
std::optional<Value> read_number(hid_t file, const char* name) {
  Read value{};
  if (!h5::read_attribute(file, name, value)) return {};
  return static_cast<Value>(value);
}

/// The files that hold the ranks, in order: this file, or the shards that it joins. The library follows the
/// map of a virtual dataset unchecked, and a damaged map crashes it. So the shards are read directly.
std::vector<std::string> files_of_ranks(hid_t file, const std::string& path) {
  if (H5Aexists(file, kShardNames) <= 0) return {path};
  std::string names;
  if (!h5::read_attribute(file, kShardNames, names))
    throw InputError(fmt::format("{}: the names of its shards cannot be read; {}", path, kRemedy));
  std::vector<std::string> files;
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) {
    files.push_back((std::filesystem::path(path).parent_path() / name).string());
    if (!std::filesystem::is_regular_file(files.back()))
      throw InputError(fmt::format("{}: its shard {} is missing; {}", path, files.back(), kRemedy));
  }
  return files;
}

/// A file's dataset /rank and its number of ranks.
struct Ranks {
  explicit Ranks(const std::string& path) : file(h5::open_file(path)) {
    if (!h5::has_link(file.get(), "rank"))
      throw InputError(fmt::format("{}: dataset /rank is missing; {}", path, kRemedy));
    dataset = h5::Handle(H5Dopen2(file.get(), "rank", H5P_DEFAULT));
    const h5::Handle type(H5Dget_type(dataset.get())), space(H5Dget_space(dataset.get()));
    if (H5Tget_class(type.get()) != H5T_FLOAT || H5Sget_simple_extent_ndims(space.get()) != 1)
      throw InputError(fmt::format("{}: dataset /rank is not a list of real numbers; {}", path, kRemedy));
    count = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
  }

  h5::Handle file, dataset;
  std::uint64_t count = 0;
};

RankFile read(hid_t file, const std::string& path, std::uint64_t vertices) {
  const std::vector<std::string> files = files_of_ranks(file, path);
  // Checked before memory is allocated: a damaged file may claim any number.
  std::uint64_t ranks = 0;
  for (const std::string& name : files) ranks += std::min(Ranks(name).count, ~ranks);  // at most 2^64 - 1
  if (ranks != vertices) {
    throw InputError(
        fmt::format("{}: {} ranks, but the graph has {} vertices (compute the ranks with --method static)",
                    path, ranks, vertices));
  }
  RankFile result;
  result.ranks = HostArray<double>(vertices, "earlier ranks");
  double* to = result.ranks.data();
  for (const std::string& name : files) {
    const Ranks part(name);
    h5::checked(H5Dread(part.dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to));
    to += part.count;
  }
  h5::read_attribute(file, "graph_checksum", result.graph_checksum);
  h5::read_attribute(file, "dangling", result.dangling);
  result.weighted = read_number<bool, std::int64_t>(file, "weighted");
  result.converged = read_number<bool, std::int64_t>(file, "converged");
  result.damping = read_number<double>(file, "damping");
  h5::read_attribute(file, "norm", result.norm);
  result.tolerance = read_number<double>(file, "tolerance");
  result.frontier_tolerance = read_number<double>(file, "frontier_tolerance");
  result.prune_tolerance = read_number<double>(file, "prune_tolerance");
  return result;
}

}  // namespace

RankFile read_rank_file(const std::string& path, std::uint64_t vertices) {
  h5::silence_errors();
  if (!std::filesystem::is_regular_file(path)) {
    throw InputError(fmt::format("{}: no such file; {}", path, kRemedy));
  }
  if (H5Fis_hdf5(path.c_str()) <= 0)
    throw InputError(fmt::format("{} is not an HDF5 file; {}", path, kRemedy));
  try {
    const h5::Handle file(h5::open_file(path));
    return read(file.get(), path, vertices);
  } catch (const h5::Failure& failure) {
    throw InputError(fmt::format("{}: {}; {}", path, failure.what(), kRemedy));
  }
}

}  // namespace sluice::io

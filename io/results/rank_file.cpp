#include "io/results/rank_file.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "engine/core/error.hpp"
#include "io/hdf5.hpp"

namespace sluice::io {
namespace {

constexpr const char* kRemedy = "give a file that 'sluice pagerank --output' wrote as HDF5";

template <class Value, class Read = Value>
std::optional<Value> read_number(hid_t file, const char* name) {
  Read value{};
  if (!h5::read_attribute(file, name, value)) return {};
  return static_cast<Value>(value);
}

RankFile read(hid_t file, const std::string& path, std::uint64_t vertices) {
  if (!h5::has_link(file, "rank")) {
    throw InputError(fmt::format("{}: dataset /rank is missing; {}", path, kRemedy));
  }
  const h5::Handle dataset(H5Dopen2(file, "rank", H5P_DEFAULT));
  const h5::Handle type(H5Dget_type(dataset.get()));
  const h5::Handle space(H5Dget_space(dataset.get()));
  if (H5Tget_class(type.get()) != H5T_FLOAT || H5Sget_simple_extent_ndims(space.get()) != 1) {
    throw InputError(fmt::format("{}: dataset /rank is no list of real numbers; {}", path, kRemedy));
  }
  // Before there is memory for them: a damaged file may claim any number.
  const auto ranks = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
  if (ranks != vertices) {
    throw InputError(
        fmt::format("{}: {} ranks, and the graph has {} vertices (rank the graph anew with --method static)",
                    path, ranks, vertices));
  }
  RankFile found;
  found.ranks = HostArray<double>(vertices, "earlier ranks");
  h5::checked(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.ranks.data()));
  h5::read_attribute(file, "graph_checksum", found.graph_checksum);
  h5::read_attribute(file, "dangling", found.dangling);
  found.weighted = read_number<bool, std::int64_t>(file, "weighted");
  found.converged = read_number<bool, std::int64_t>(file, "converged");
  found.damping = read_number<double>(file, "damping");
  h5::read_attribute(file, "norm", found.norm);
  found.tolerance = read_number<double>(file, "tolerance");
  found.frontier_tolerance = read_number<double>(file, "frontier_tolerance");
  found.prune_tolerance = read_number<double>(file, "prune_tolerance");
  return found;
}

}  // namespace

RankFile read_rank_file(const std::string& path, std::uint64_t vertices) {
  h5::quiet();
  if (!std::filesystem::is_regular_file(path)) {
    throw InputError(fmt::format("{}: no such file; {}", path, kRemedy));
  }
  if (H5Fis_hdf5(path.c_str()) <= 0) throw InputError(fmt::format("{} is no HDF5 file; {}", path, kRemedy));
  try {
    const h5::Handle file(h5::open_file(path));
    return read(file.get(), path, vertices);
  } catch (const h5::Failure& failure) {
    throw InputError(fmt::format("{}: {}; {}", path, failure.what(), kRemedy));
  }
}

}  // namespace sluice::io

#include "io/results/rank_file.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "engine/core/error.hpp"
#include "io/hdf5.hpp"

namespace sluice::io {
namespace {

constexpr const char* kRemedy = "give a file that 'sluice pagerank --output' wrote as HDF5";

std::optional<double> read_real(hid_t file, const char* name) {
  if (H5Aexists(file, name) <= 0) return std::nullopt;
  const h5::Handle attribute(H5Aopen(file, name, H5P_DEFAULT));
  double value = 0;
  h5::checked(H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value));
  return value;
}

std::optional<bool> read_truth(hid_t file, const char* name) {
  std::int64_t value = 0;
  if (!h5::read_attribute(file, name, value)) return {};
  return value != 0;
}

RankFile read(hid_t file, const std::string& path) {
  if (!h5::has_link(file, "rank")) {
    throw InputError(fmt::format("{}: dataset /rank is missing; {}", path, kRemedy));
  }
  const h5::Handle dataset(H5Dopen2(file, "rank", H5P_DEFAULT));
  const h5::Handle type(H5Dget_type(dataset.get()));
  const h5::Handle space(H5Dget_space(dataset.get()));
  if (H5Tget_class(type.get()) != H5T_FLOAT || H5Sget_simple_extent_ndims(space.get()) != 1) {
    throw InputError(fmt::format("{}: dataset /rank is no list of real numbers; {}", path, kRemedy));
  }
  RankFile found;
  found.ranks =
      HostArray<double>(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())), "earlier ranks");
  h5::checked(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.ranks.data()));
  h5::read_attribute(file, "graph_checksum", found.graph_checksum);
  h5::read_attribute(file, "dangling", found.dangling);
  found.weighted = read_truth(file, "weighted");
  found.converged = read_truth(file, "converged");
  found.damping = read_real(file, "damping");
  h5::read_attribute(file, "norm", found.norm);
  found.tolerance = read_real(file, "tolerance");
  found.frontier_tolerance = read_real(file, "frontier_tolerance");
  found.prune_tolerance = read_real(file, "prune_tolerance");
  return found;
}

}  // namespace

RankFile read_rank_file(const std::string& path) {
  h5::quiet();
  if (!std::filesystem::is_regular_file(path)) {
    throw InputError(fmt::format("{}: no such file; {}", path, kRemedy));
  }
  if (H5Fis_hdf5(path.c_str()) <= 0) throw InputError(fmt::format("{} is no HDF5 file; {}", path, kRemedy));
  try {
    const h5::Handle file(h5::open_file(path));
    return read(file.get(), path);
  } catch (const h5::Failure& failure) {
    throw InputError(fmt::format("{}: {}; {}", path, failure.what(), kRemedy));
  }
}

}  // namespace sluice::io

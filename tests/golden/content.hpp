// The checksum of a result's content by 64-bit FNV-1a (Fowler, Noll, Vo). The bytes of an HDF5 file depend on
// the library's version and on chunks. Its content does not: datasets by name, each with type, shape and
// values.
#pragma once

#include <fmt/core.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process.hpp"

namespace sluice::test {

class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  /// The length precedes the text, so that different sequences of texts have different bytes.
  void add_text(std::string_view text) { add_number(text.size()), add(text); }
  void add_number(std::uint64_t number) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (8 * i));
    add({bytes.data(), bytes.size()});
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The root attributes of a result. Attributes that a later version adds do not change checksums. `origin`,
/// which is a path, and `sluice_version` are excluded.
inline constexpr std::array kResultAttributes{
    "alpha",
    "bias",
    "checksum",
    "command",
    "converged",
    "count",
    "damping",
    "dangling",
    "depth",
    "directed",
    "edges",
    "expand",
    "fanout",
    "frontier_size",
    "frontier_tolerance",
    "graph_checksum",
    "instance_range",
    "instances",
    "k",
    "kind",
    "layer_size",
    "length",
    "max_iterations",
    "message_damping",
    "method",
    "norm",
    "p",
    "precision",
    "probability",
    "prune_tolerance",
    "q",
    "replace",
    "residual_threshold",
    "revisit",
    "seed",
    "select",
    "source",
    "stages",
    "starts_checksum",
    "states",
    "table",
    "tolerance",
    "top",
    "unexpanded",
    "vertices",
    "walks",
    "walks_per_vertex",
    "weighted",
};

inline void add_type(Fnv& sum, hid_t type) {
  sum.add_number(static_cast<std::uint64_t>(H5Tget_class(type)));
  sum.add_number(H5Tget_size(type));
  if (H5Tget_class(type) == H5T_INTEGER) sum.add_number(static_cast<std::uint64_t>(H5Tget_sign(type)));
  if (H5Tget_class(type) != H5T_STRING) sum.add_number(static_cast<std::uint64_t>(H5Tget_order(type)));
}

inline void add_dataset(Fnv& sum, hid_t file, const std::string& name) {
  const hid_t data = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t type = H5Dget_type(data), space = H5Dget_space(data);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  sum.add_text(name);
  add_type(sum, type);
  sum.add_number(shape.size());
  for (const hsize_t length : shape) sum.add_number(length);
  std::string bytes(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type), '\0');
  const bool read = H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  sum.add(bytes);
  H5Sclose(space), H5Tclose(type), H5Dclose(data);
  if (!read) throw std::runtime_error(name + ": cannot be read");
}

/// The text of an attribute of fixed or variable length.
inline std::string text_of(hid_t attribute, hid_t type) {
  if (H5Tis_variable_str(type) <= 0) {
    std::string text(H5Tget_size(type), '\0');
    H5Aread(attribute, type, text.data());
    return text.c_str();
  }
  char* characters = nullptr;
  H5Aread(attribute, type, &characters);
  std::string text = characters == nullptr ? "" : characters;
  H5free_memory(characters);
  return text;
}

inline void add_attribute(Fnv& sum, hid_t file, const char* name) {
  if (H5Aexists(file, name) <= 0) return;
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  sum.add_text(name);
  if (H5Tget_class(type) == H5T_STRING) {
    sum.add_text(text_of(attribute, type));
  } else {
    std::string bytes(static_cast<std::size_t>(H5Aget_storage_size(attribute)), '\0');
    H5Aread(attribute, type, bytes.data());
    add_type(sum, type);
    sum.add_text(bytes);
  }
  H5Tclose(type), H5Aclose(attribute);
}

/// Names of all datasets, sorted, since the file has them in order of creation.
inline std::vector<std::string> datasets_of(hid_t file) {
  std::vector<std::string> names;
  const auto visit = [](hid_t group, const char* name, const H5L_info_t*, void* found) -> herr_t {
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (H5Iget_type(object) == H5I_DATASET) static_cast<std::vector<std::string>*>(found)->emplace_back(name);
    H5Oclose(object);
    return 0;
  };
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &names);
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string checksum_of_h5(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) throw std::runtime_error(path + ": no HDF5 file");
  Fnv sum;
  for (const std::string& name : datasets_of(file)) add_dataset(sum, file, name);
  for (const char* const name : kResultAttributes) add_attribute(sum, file, name);
  H5Fclose(file);
  return sum.text();
}

/// For a folder, the .npy files by name; its attributes are those of the HDF5 form.
inline std::string checksum_of_npy(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Fnv sum;
  for (const auto& file : files) sum.add_text(file.filename().string()), sum.add_text(read_file(file));
  return sum.text();
}

/// The checksum of a result in any form.
inline std::string checksum_of_result(const std::string& path) {
  if (std::filesystem::is_directory(path)) return checksum_of_npy(path);
  const std::string bytes = read_file(path);
  if (bytes.starts_with("\x89HDF")) return checksum_of_h5(path);
  Fnv sum;
  sum.add_text(bytes);
  return sum.text();
}

}  // namespace sluice::test

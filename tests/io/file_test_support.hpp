// Helpers of file tests: a temporary folder, error messages, and what is read in HDF5 files.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/core/error.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {

/// The message of the E that `action` throws; otherwise a text that fails any comparison.
template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "no exception";
}

/// Offset of the first byte of a contiguous dataset.
inline std::uint64_t dataset_offset(const std::string& path, const std::string& name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const haddr_t offset = H5Dget_offset(dataset);
  H5Dclose(dataset);
  H5Fclose(file);
  return offset;
}

/// Overwrites bytes in place.
template <class T>
void poke(const std::string& path, std::uint64_t offset, T value) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

/// True if this Python has `modules` ("h5py, scipy").
inline bool python_has(const std::string& modules) {
  return std::system(("/usr/bin/python3 -c 'import " + modules + "' >/dev/null 2>&1").c_str()) == 0;
}
inline int run_python(const std::string& script, const std::string& argument) {
  return std::system(("/usr/bin/python3 -c \"" + script + "\" '" + argument + "'").c_str());
}

}  // namespace sluice::test

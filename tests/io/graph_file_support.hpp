// Helpers of graph file tests: two small graphs, and a file that a test may damage.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {

template <class T>
HostArray<T> array_of(const std::vector<T>& values) {
  HostArray<T> array(values.size());
  std::copy(values.begin(), values.end(), array.begin());
  return array;
}

inline Csr rows(std::vector<EdgeIndex> offsets, std::vector<Vertex> targets, std::vector<float> weights = {},
                std::vector<std::int64_t> times = {}) {
  Csr csr;
  csr.offsets = array_of(offsets);
  csr.targets = array_of(targets);
  csr.weights = array_of(weights);
  csr.times = array_of(times);
  return csr;
}

/// 0 -> 1 (0.5), 0 -> 2 (1.5), 2 -> 0 (2), 2 -> 3 (0), with times, in-edges and original ids.
inline Graph full_graph() {
  Graph graph;
  graph.out = rows({0, 2, 2, 4, 4}, {1, 2, 0, 3}, {0.5f, 1.5f, 2, 0}, {10, 20, 30, 40});
  graph.in = rows({0, 1, 2, 3, 4}, {2, 0, 0, 2}, {2, 0.5f, 1.5f, 0}, {30, 10, 20, 40});
  graph.original_ids = array_of<std::int64_t>({3, 5, 100, 1ll << 40});
  graph.weighted = true;
  graph.origin = "full.txt";
  return graph;
}

/// A path 0 - 1 - 2, unweighted and undirected.
inline Graph undirected_path() {
  Graph graph;
  graph.out = rows({0, 1, 3, 4}, {1, 0, 2, 1});
  graph.directed = false;
  return graph;
}

template <class T>
std::vector<T> values(const HostArray<T>& array) {
  return {array.begin(), array.end()};
}

/// Each test has its own file with full_graph().
class GraphFileTest : public ::testing::Test {
 protected:
  void SetUp() override { io::write_graph(path, full_graph(), false); }

  std::string read_error(bool with_in = false) {
    return message_of<InputError>([&] { io::read_graph(path, {.in = with_in}); });
  }
  std::string check_error() {
    return message_of<InputError>([&] { io::check_graph(path); });
  }
  std::string dataset_fault(const std::string& name, const std::string& what) {
    return path + ": dataset " + name + ": " + what + "; convert the graph again";
  }
  std::uint64_t offset(const std::string& name) { return dataset_offset(path, name); }
  /// Changes the file through HDF5.
  template <class Action>
  void edit(Action&& action) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    action(file);
    H5Fclose(file);
  }
  /// Replaces a dataset by another.
  void replace(const std::string& name, hid_t type, std::vector<hsize_t> shape, const void* data = nullptr,
               hid_t memory = -1) {
    edit([&](hid_t file) {
      H5Ldelete(file, name.c_str(), H5P_DEFAULT);
      const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
      const hid_t dataset =
          H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      if (data) H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
      H5Dclose(dataset);
      H5Sclose(space);
    });
  }
  void delete_attribute(const char* name) {
    edit([&](hid_t file) { H5Adelete(file, name); });
  }

  TemporaryFolder folder;
  std::string path = folder / "graph.h5";
};

}  // namespace sluice::test

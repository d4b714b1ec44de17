// Helpers of program tests: a folder, a small graph, and checks of refusals.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "paths.hpp"

namespace sluice::test {

/// All numbers of a dataset of any integer type.
inline std::vector<std::int64_t> read_numbers(const std::string& file, const std::string& dataset) {
  std::vector<std::int64_t> numbers;
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(id, dataset.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  numbers.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0)
      << file << dataset;
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(id);
  return numbers;
}

class CliTest : public testing::Test {
 protected:
  /// Runs the program; it must succeed.
  Finished run(std::vector<std::string> arguments) {
    auto finished = sluice(std::move(arguments));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }

  /// Runs the program; it must end with `status`. It writes one line with `words` to standard error, nothing
  /// to standard output, and no file to the folder.
  void refuse(int status, const std::string& words, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), paths::kProgram);
    refuse_program("sluice", status, words, std::move(arguments));
  }
  /// The same for any program and its arguments.
  void refuse_program(const std::string& name, int status, const std::string& words,
                      std::vector<std::string> program) {
    const auto before = folder_.names().size();
    const auto finished = Process(std::move(program)).wait();
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_TRUE(finished.err.starts_with(name + ": ")) << finished.err;
    EXPECT_NE(finished.err.find(words), std::string::npos) << finished.err;
    EXPECT_EQ(folder_.names().size(), before) << "something was left behind";
  }

  /// A path in the test's folder.
  std::string at(const std::string& name) const { return folder_ / name; }

  /// A graph of 2^scale vertices, generated once for each test.
  std::string graph(const std::string& kind = "kronecker", unsigned scale = 8,
                    const std::vector<std::string>& more = {"--undirected", "--weights", "uniform"}) {
    const std::string path = at(kind + std::to_string(scale) + ".h5");
    if (std::filesystem::exists(path)) return path;
    std::vector<std::string> arguments{"generate", kind, "--scale", std::to_string(scale),
                                       "--output", path, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run(arguments);
    return path;
  }

  static std::string shared(const std::string& name) { return std::string(paths::kSharedData) + "/" + name; }

  TemporaryFolder folder_;
};

}  // namespace sluice::test

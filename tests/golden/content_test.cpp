// The checksum of a result covers what it should, and nothing else.
#include <gtest/gtest.h>

#include "golden/content.hpp"

namespace sluice::test {
namespace {

class Content : public testing::Test {
 protected:
  /// The checksum of a file with one dataset. `chunk` 0: contiguous.
  std::string sum(const std::string& name, std::vector<hsize_t> shape,
                  const std::vector<std::int32_t>& values, const char* attribute = nullptr, hsize_t chunk = 0,
                  hid_t type = H5T_STD_I32LE) {
    const std::string path = folder_ / "content.h5";
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk != 0) H5Pset_chunk(properties, 1, &chunk);
    const hid_t data = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (attribute != nullptr) {
      const hid_t scalar = H5Screate(H5S_SCALAR);
      const hid_t made = H5Acreate2(file, attribute, H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
      const std::int64_t value = 7;
      H5Awrite(made, H5T_NATIVE_INT64, &value);
      H5Aclose(made), H5Sclose(scalar);
    }
    H5Dclose(data), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
    return checksum_of_result(path);
  }

  TemporaryFolder folder_;
};

TEST_F(Content, IsFnv) {
  Fnv sum;
  EXPECT_EQ(sum.text(), "cbf29ce484222325");
  sum.add("a");
  EXPECT_EQ(sum.text(), "af63dc4c8601ec8c");
}

TEST_F(Content, SeesNamesTypesShapesAndValues) {
  const std::string plain = sum("walks", {4}, {1, 2, 3, 4});

  EXPECT_EQ(sum("walks", {4}, {1, 2, 3, 4}), plain);
  EXPECT_NE(sum("walk", {4}, {1, 2, 3, 4}), plain);
  EXPECT_NE(sum("walks", {2, 2}, {1, 2, 3, 4}), plain);
  EXPECT_NE(sum("walks", {4}, {1, 2, 3, 5}), plain);
  EXPECT_NE(sum("walks", {4}, {1, 2, 3, 4}, nullptr, 0, H5T_STD_I64LE), plain);
  EXPECT_NE(sum("walks", {4}, {1, 2, 3, 4}, "seed"), plain);
}

TEST_F(Content, IsThatOfChunksAndOfAttributesThatCameLater) {
  const std::string plain = sum("walks", {4}, {1, 2, 3, 4});

  EXPECT_EQ(sum("walks", {4}, {1, 2, 3, 4}, nullptr, 3), plain);
  EXPECT_EQ(sum("walks", {4}, {1, 2, 3, 4}, "added_by_a_later_version"), plain);
}

}  // namespace
}  // namespace sluice::test

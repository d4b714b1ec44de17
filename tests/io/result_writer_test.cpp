#include "io/results/result_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "tests/io/file_test_support.hpp"
#include "tests/io/results_support.hpp"

namespace sluice::io {
namespace {

using test::message_of;
using test::read_file;
using test::TemporaryFolder;

template <class T>
void append(ResultWriter& writer, int dataset, const std::vector<T>& values, std::uint64_t rows) {
  writer.append(dataset, values.data(), rows);
}

/// All element types, one dataset of two dimensions, and one without rows.
void write_all_types(ResultWriter& writer) {
  const int walks = writer.declare("walks", ElementType::i32, {3});
  const int wide = writer.declare("wide", ElementType::i64, {});
  const int member = writer.declare("member", ElementType::u8, {});
  const int belief = writer.declare("belief", ElementType::f32, {2});
  const int rank = writer.declare("rank", ElementType::f64, {});
  writer.declare("empty", ElementType::i32, {2, 2});
  append<std::int32_t>(writer, walks, {0, 1, 2, 3, -1, -1}, 2);
  append<std::int64_t>(writer, wide, {1ll << 40}, 1);
  append<std::uint8_t>(writer, member, {1, 0, 255}, 3);
  append<float>(writer, belief, {0.25f, 0.1f}, 1);
  append<double>(writer, rank, {0.1, std::numeric_limits<double>::infinity()}, 2);
  writer.commit();
}

template <class T>
std::vector<T> read_h5(const std::string& path, const char* name, hid_t type) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

// ---- HDF5

TEST(H5ResultsTest, HoldsWhatWasAppended) {
  const TemporaryFolder folder;
  const std::string path = folder / "r.h5";
  write_all_types(*make_result_writer(path, ResultFormat::h5, false, kAttributes));

  EXPECT_EQ(read_h5<std::int32_t>(path, "walks", H5T_NATIVE_INT32),
            (std::vector<std::int32_t>{0, 1, 2, 3, -1, -1}));
  EXPECT_EQ(read_h5<std::int64_t>(path, "wide", H5T_NATIVE_INT64), (std::vector<std::int64_t>{1ll << 40}));
  EXPECT_EQ(read_h5<std::uint8_t>(path, "member", H5T_NATIVE_UINT8), (std::vector<std::uint8_t>{1, 0, 255}));
  EXPECT_EQ(read_h5<float>(path, "belief", H5T_NATIVE_FLOAT), (std::vector<float>{0.25f, 0.1f}));
  EXPECT_EQ(read_h5<double>(path, "rank", H5T_NATIVE_DOUBLE)[0], 0.1);
  EXPECT_TRUE(read_h5<std::int32_t>(path, "empty", H5T_NATIVE_INT32).empty());
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(
      message_of<InputError>([&] { read_graph_info(path); }),
      path +
          " is not a graph file (root attribute sluice_format is missing); make a graph file with 'sluice "
          "convert'");
}

TEST(H5ResultsTest, BytesDependOnTheDataAlone) {
  const TemporaryFolder folder;
  constexpr std::size_t kRows = 400'000;  // several chunks of both datasets
  const std::vector<std::int64_t> rows = counting(3 * kRows), column = counting(kRows);
  const auto write = [&](const std::string& name, std::size_t step, bool second_first) {
    const auto writer = make_result_writer(folder / name, ResultFormat::h5, false, kAttributes);
    const int walks = writer->declare("walks", ElementType::i64, {3});
    const int ends = writer->declare("ends", ElementType::i64, {});
    if (second_first) writer->append(ends, column.data(), kRows);
    for (std::size_t at = 0; at < kRows; at += step) {
      const std::size_t some = std::min(step, kRows - at);
      writer->append(walks, rows.data() + 3 * at, some);
      if (!second_first) writer->append(ends, column.data() + at, some);
    }
    writer->commit();
    EXPECT_EQ(writer->bytes_written(), 4 * kRows * 8);
    EXPECT_EQ(read_h5<std::int64_t>(folder / name, "walks", H5T_NATIVE_INT64), rows);
    EXPECT_EQ(read_h5<std::int64_t>(folder / name, "ends", H5T_NATIVE_INT64), column);
    return read_file(folder / name);
  };

  const std::string whole = write("whole", kRows, true);

  EXPECT_TRUE(write("lockstep", 777, false) == whole);
  EXPECT_TRUE(write("halves", kRows / 2, false) == whole);
  EXPECT_EQ(folder.entries(), 3u);
}

/// Columns of unequal width have a fixed order in the file, and are written before the end.
TEST(H5ResultsTest, ColumnsStreamToBytesThatDependOnTheDataAlone) {
  const TemporaryFolder folder;
  constexpr std::size_t kRows = 700'000;
  const std::vector<std::int64_t> wide = counting(2 * kRows);
  const std::vector<std::int32_t> narrow(kRows, 7);
  std::vector<std::int64_t> ends(kRows + 1);
  std::iota(ends.begin(), ends.end(), 0);
  const auto write = [&](const std::string& name, std::size_t step) {
    const auto writer = make_result_writer(folder / name, ResultFormat::h5, false, kAttributes);
    const int pairs = writer->declare("pairs", ElementType::i64, {2});
    const int sevens = writer->declare("sevens", ElementType::i32, {});
    const int counts = writer->declare_offsets("offsets");
    writer->set_columns(2);
    for (std::size_t at = 0; at < kRows; at += step) {
      const std::size_t some = std::min(step, kRows - at);
      writer->append(sevens, narrow.data() + at, some);
      writer->append(pairs, wide.data() + 2 * at, some);
      writer->append_counts(counts, std::vector<std::uint64_t>(some, 1));
    }
    EXPECT_EQ(writer->bytes_written(), 12u << 20) << "ten chunks of pairs, two of sevens";
    writer->commit();
    EXPECT_EQ(read_h5<std::int64_t>(folder / name, "pairs", H5T_NATIVE_INT64), wide);
    EXPECT_EQ(read_h5<std::int32_t>(folder / name, "sevens", H5T_NATIVE_INT32), narrow);
    EXPECT_EQ(read_h5<std::int64_t>(folder / name, "offsets", H5T_NATIVE_INT64), ends);
    return read_file(folder / name);
  };

  const std::string whole = write("whole", kRows);

  EXPECT_TRUE(write("lockstep", 777) == whole);
  EXPECT_TRUE(write("halves", kRows / 2) == whole);
  EXPECT_EQ(folder.entries(), 3u);
}

TEST(H5ResultsTest, ColumnsOfUnequalLengthAreAnError) {
  const TemporaryFolder folder;
  const auto writer = make_result_writer(folder / "r.h5", ResultFormat::h5, false, {});
  const int first = writer->declare("first", ElementType::i64, {});
  writer->declare("second", ElementType::i64, {});
  writer->set_columns(2);
  writer->append(first, counting(3).data(), 3);

  EXPECT_NE(message_of<RunError>([&] { writer->commit(); }).find("unequal rows"), std::string::npos);
}

TEST(H5ResultsTest, ExactlyFullChunks) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values = counting(2 << 17);
  const auto writer = make_result_writer(folder / "r.h5", ResultFormat::h5, false, {});
  writer->append(writer->declare("a", ElementType::i64, {}), values.data(), values.size());
  writer->commit();

  EXPECT_EQ(read_h5<std::int64_t>(folder / "r.h5", "a", H5T_NATIVE_INT64), values);
}

TEST(H5ResultsTest, PythonReadsItWithAttributes) {
  if (!test::python_has("h5py, numpy")) GTEST_SKIP() << "no h5py";
  const TemporaryFolder folder;
  write_all_types(*make_result_writer(folder / "r.h5", ResultFormat::h5, false, kAttributes));
  EXPECT_EQ(test::run_python(
                "import sys, h5py; f = h5py.File(sys.argv[1], 'r');"
                "assert f['walks'].shape == (2, 3) and f['walks'].dtype == '<i4';"
                "assert f['empty'].shape == (0, 2, 2) and f['walks'].maxshape[0] is None;"
                "assert f.attrs['kind'] == 'uniform' and f.attrs['length'] == 80 and f.attrs['p'] == .5",
                folder / "r.h5"),
            0);
}

// ---- npy

TEST(NpyResultsTest, NumpyLoadsIt) {
  const TemporaryFolder folder;
  write_all_types(*make_result_writer(folder / "r", ResultFormat::npy, false, kAttributes));
  const std::string walks = read_file(folder / "r/walks.npy");
  EXPECT_EQ(walks.size(), 256u + 6 * 4);
  EXPECT_NE(walks.find("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"), walks.npos);
  EXPECT_EQ(read_file(folder / "r/attributes.json"),
            "{\n  \"kind\": \"uniform\",\n  \"length\": 80,\n  \"p\": 0.5\n}\n");
  EXPECT_EQ(folder.entries(), 1u);
  if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy";
  EXPECT_EQ(test::run_python(
                "import sys, numpy as np; l = lambda n: np.load(sys.argv[1] + '/' + n + '.npy');"
                "assert (l('walks') == [[0, 1, 2], [3, -1, -1]]).all() and l('walks').dtype == np.int32;"
                "assert l('wide').tolist() == [2**40] and l('member').tolist() == [1, 0, 255];"
                "assert l('belief').shape == (1, 2) and l('belief').dtype == np.float32;"
                "assert l('rank').tolist() == [.1, np.inf] and l('empty').shape == (0, 2, 2)",
                folder / "r"),
            0);
}

TEST(NpyResultsTest, BytesDoNotDependOnTheAppends) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values = counting(300'000);
  for (const std::size_t step : {std::size_t{7}, std::size_t{100'000}, values.size()}) {
    const auto writer = make_result_writer(folder / "r", ResultFormat::npy, true, {});
    const int dataset = writer->declare("a", ElementType::i64, {});
    for (std::size_t at = 0; at < values.size(); at += step) {
      writer->append(dataset, values.data() + at, std::min(step, values.size() - at));
    }
    writer->commit();
    const std::string bytes = read_file(folder / "r/a.npy");
    ASSERT_EQ(bytes.size(), 256 + values.size() * 8);
    EXPECT_EQ(std::memcmp(bytes.data() + 256, values.data(), values.size() * 8), 0);
  }
}

// ---- text

TEST(TextResultsTest, OneRowALine) {
  const TemporaryFolder folder;
  const auto writer = make_result_writer(folder / "w.txt", ResultFormat::text, false, kAttributes);
  append<std::int32_t>(*writer, writer->declare("walks", ElementType::i32, {3}), {0, 1, 2, 3, -1, -1}, 2);
  writer->commit();
  EXPECT_EQ(read_file(folder / "w.txt"), "0 1 2\n3 -1 -1\n");
  EXPECT_EQ(writer->bytes_written(), 14u);
}

TEST(TextResultsTest, PaddedRowsEndWhereTheyEnd) {
  const TemporaryFolder folder;
  const auto writer = make_result_writer(folder / "w.txt", ResultFormat::text, false, {});
  const int narrow = writer->declare_padded("narrow", ElementType::i32, {3});
  const int wide = writer->declare_padded("wide", ElementType::i64, {2});
  append<std::int32_t>(*writer, narrow, {0, 1, 2, 3, -1, -1, -1, -1, -1}, 3);
  append<std::int64_t>(*writer, wide, {0xffffffff, -1, 4, 5}, 2);
  writer->commit();
  EXPECT_EQ(read_file(folder / "w.txt"), "# narrow\n0 1 2\n3\n\n# wide\n4294967295\n4 5\n");
}

TEST(TextResultsTest, SeveralDatasetsFollowEachOtherWhateverTheOrder) {
  const TemporaryFolder folder;
  const auto writer = make_result_writer(folder / "w.txt", ResultFormat::text, false, {});
  const int a = writer->declare("a", ElementType::f64, {}), b = writer->declare("b", ElementType::u8, {2});
  writer->declare("c", ElementType::i32, {});
  append<std::uint8_t>(*writer, b, {1, 2}, 1);
  append<double>(*writer, a, {0.1}, 1);
  append<std::uint8_t>(*writer, b, {3, 4}, 1);
  append<double>(*writer, a, {1e300, -0.0, std::numeric_limits<double>::infinity()}, 3);
  writer->commit();
  EXPECT_EQ(read_file(folder / "w.txt"), "# a\n0.1\n1e+300\n-0\ninf\n# b\n1 2\n3 4\n# c\n");
}

TEST(TextResultsTest, ColumnsSideBySide) {
  const TemporaryFolder folder;
  const auto writer =
      make_result_writer(folder / "w.txt", ResultFormat::text, false, {}, {"source", "target", "depth"});
  const int depth = writer->declare("depth", ElementType::i32, {}),
            source = writer->declare("source", ElementType::i64, {});
  const int left_out = writer->declare("offsets", ElementType::i64, {});
  const int target = writer->declare("target", ElementType::i64, {});
  append<std::int64_t>(*writer, source, {10, 11, 12}, 3);
  append<std::int64_t>(*writer, left_out, {0, 3}, 2);
  append<std::int64_t>(*writer, target, {20}, 1);
  append<std::int32_t>(*writer, depth, {1, 1, 2}, 3);
  append<std::int64_t>(*writer, target, {21, 22}, 2);
  writer->commit();
  EXPECT_EQ(read_file(folder / "w.txt"), "# source target depth\n10 20 1\n11 21 1\n12 22 2\n");
}

TEST(TextResultsTest, ColumnsOfDifferentLengthAreRefused) {
  const TemporaryFolder folder;
  {
    const auto writer = make_result_writer(folder / "w.txt", ResultFormat::text, false, {}, {"a", "b"});
    append<std::uint8_t>(*writer, writer->declare("a", ElementType::u8, {}), {}, 0);
    EXPECT_THROW(writer->commit(), RunError) << "b was never declared";
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(TextResultsTest, LargeOutputPassesThroughTheBuffer) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values = counting(500'000);
  const auto writer = make_result_writer(folder / "w.txt", ResultFormat::text, false, {});
  writer->append(writer->declare("a", ElementType::i64, {5}), values.data(), values.size() / 5);
  writer->commit();
  std::ifstream in(folder / "w.txt");
  std::vector<std::int64_t> read(std::istream_iterator<std::int64_t>(in), {});
  EXPECT_EQ(read, values);
}

TEST(TextResultsTest, DashIsStandardOutput) {
  ::testing::internal::CaptureStdout();
  const auto writer = make_result_writer("-", ResultFormat::text, false, {});
  append<std::int32_t>(*writer, writer->declare("a", ElementType::i32, {2}), {1, 2}, 1);
  writer->commit();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "1 2\n");
  EXPECT_EQ(message_of<UsageError>([] { make_result_writer("-", ResultFormat::h5, false, {}); }),
            "--output -: only --format text can go to standard output");
}

// ---- all forms

class AllForms : public ::testing::TestWithParam<ResultFormat> {};

TEST_P(AllForms, NothingAppearsWithoutCommit) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values = counting(300'000);
  {
    const auto writer = make_result_writer(folder / "r", GetParam(), false, kAttributes);
    const int a = writer->declare("a", ElementType::i64, {}), b = writer->declare("b", ElementType::i64, {});
    writer->append(a, values.data(), values.size());
    writer->append(b, values.data(), values.size());
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST_P(AllForms, ExistingOutputNeedsForce) {
  const TemporaryFolder folder;
  for (const bool force : {false, true}) {
    write_all_types(*make_result_writer(folder / "r", GetParam(), force, {}));
  }
  EXPECT_EQ(message_of<UsageError>([&] { make_result_writer(folder / "r", GetParam(), false, {}); }),
            folder / "r" + " exists: use --force to replace it");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST_P(AllForms, DeclarationsComeOnceAndFirst) {
  const TemporaryFolder folder;
  const auto writer = make_result_writer(folder / "r", GetParam(), false, {});
  const int a = writer->declare("a", ElementType::u8, {});
  EXPECT_THROW(writer->declare("a", ElementType::u8, {}), RunError);
  EXPECT_THROW(writer->declare("../a", ElementType::u8, {}), RunError);
  append<std::uint8_t>(*writer, a, {1}, 1);
  EXPECT_THROW(writer->declare("b", ElementType::u8, {}), RunError);
}

INSTANTIATE_TEST_SUITE_P(ResultFormats, AllForms,
                         ::testing::Values(ResultFormat::h5, ResultFormat::npy, ResultFormat::text));
}  // namespace
}  // namespace sluice::io

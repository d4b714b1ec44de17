#include "engine/core/size.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace sluice {
namespace {

TEST(ParseSize, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("0", "--x"), 0u);
  EXPECT_EQ(parse_size("65536", "--x"), 65536u);
  EXPECT_EQ(parse_size("65536B", "--x"), 65536u);
  EXPECT_EQ(parse_size("512MiB", "--x"), std::uint64_t{512} << 20);
  EXPECT_EQ(parse_size("4GiB", "--x"), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_size("4 GiB", "--x"), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_size("2G", "--x"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("3k", "--x"), 3072u);
  EXPECT_EQ(parse_size("100MB", "--x"), 100'000'000u);
  EXPECT_EQ(parse_size("1.5GB", "--x"), 1'500'000'000u);
  EXPECT_EQ(parse_size("1.5KiB", "--x"), 1536u);
  EXPECT_EQ(parse_size("2TiB", "--x"), std::uint64_t{2} << 40);
  EXPECT_EQ(parse_size("1e3", "--x"), 1000u);
}

class NoSize : public testing::TestWithParam<const char*> {};

TEST_P(NoSize, IsRefusedByTheOptionsName) {
  try {
    parse_size(GetParam(), "--device-memory");
    FAIL() << "taken for a size";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("--device-memory: '" + std::string(GetParam()) + "'"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, NoSize,
                         testing::Values("", " ", "MiB", "-1", "-0.5G", "nan", "inf", "1e30", "9000000T",
                                         "12X", "12Mi", "12MiBs", "1 2", "0x10", "12,5M", "1GiB ", "4Gb"));

TEST(FormatSize, HasTwoDigitsBehindThePointFromKibibytesOn) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1.00 KiB");
  EXPECT_EQ(format_size(1536), "1.50 KiB");
  EXPECT_EQ(format_size(std::uint64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(format_size(std::uint64_t{1} << 50), "1.00 PiB");
  EXPECT_EQ(format_size(~std::uint64_t{0}), "16384.00 PiB");
}

TEST(FormatSize, IsReadBackByParseSize) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{17}, std::uint64_t{1} << 20, std::uint64_t{7} << 40}) {
    EXPECT_EQ(parse_size(format_size(bytes), "--x"), bytes);
  }
}

}  // namespace
}  // namespace sluice

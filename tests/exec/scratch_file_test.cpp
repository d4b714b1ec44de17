// Memory in an unnamed file.
#include "engine/exec/memory/scratch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "engine/core/error.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {
namespace {

class ScratchMemoryTest : public testing::Test {
 protected:
  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(ScratchMemoryTest, KeepsWhatIsWritten) {
  ScratchMemory memory(folder_, (3u << 20) + 1);
  const std::span bytes(static_cast<unsigned char*>(memory.data()), memory.bytes());
  EXPECT_EQ(std::ranges::count(bytes, 0), static_cast<std::ptrdiff_t>(bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i % 251);

  ScratchMemory other(std::move(memory));

  EXPECT_EQ(other.data(), bytes.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != i % 251;
  EXPECT_EQ(wrong, 0u);
}

TEST_F(ScratchMemoryTest, LeavesNothingInTheFolder) {
  const ScratchMemory memory(folder_, 1u << 20), nothing(folder_, 0);

  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(nothing.data(), nullptr);
}

TEST_F(ScratchMemoryTest, NamesTheFolderThatCannotHoldIt) {
  for (const auto& [folder, bytes] : {std::pair{folder_, std::uint64_t{1} << 60}, {folder_ + "/absent", 8}}) {
    try {
      ScratchMemory memory(folder, bytes);
      FAIL() << "it fits in " << folder;
    } catch (const RunError& error) {
      EXPECT_EQ(std::string(error.what()).find(folder), 0u) << error.what();
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace sluice::test

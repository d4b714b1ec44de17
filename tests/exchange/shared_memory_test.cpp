// Memory that two processes share.
#include "engine/exchange/node/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/error.hpp"

namespace sluice {
namespace {

TEST(SharedMemoryTest, AnotherProcessSeesTheSameBytes) {
  const SharedMemory own(1 << 20);
  auto* const numbers = static_cast<int*>(own.data());
  numbers[1000] = 7;

  const pid_t child = fork();
  if (child == 0) {
    const SharedMemory theirs(own.address(), 1 << 20);
    auto* const seen = static_cast<int*>(theirs.data());
    seen[2000] = seen[1000] + 1;
    _exit(seen[0]);
  }
  int status = -1;
  waitpid(child, &status, 0);

  EXPECT_EQ(status, 0) << "it begins as zeros";
  EXPECT_EQ(numbers[2000], 8);
}

TEST(SharedMemoryTest, IsRefusedWhereItIsGone) {
  std::string address;
  {
    const SharedMemory gone(4096);
    address = gone.address();
  }

  EXPECT_THROW(SharedMemory(address, 4096), RunError);
  EXPECT_THROW(SharedMemory("/proc/self/fd/0 sluice-0", 4096), RunError);
}

TEST(SharedMemoryTest, MayBeEmpty) {
  const SharedMemory none(0);

  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(SharedMemory(none.address(), 0).data(), nullptr);
}

}  // namespace
}  // namespace sluice

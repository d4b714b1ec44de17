// The choice of the device. The runtime reports whether a GPU can run the compiled code; if not, one line on
// stderr names the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "gpu/gpu.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

/// Runs a small job of a given program.
class DeviceCheck : public testing::Test {
 protected:
  std::vector<std::string> job(const std::string& program, const std::string& device) {
    const std::string graph = folder_ / "graph.h5";
    EXPECT_EQ(sluice({"generate", "ring", "--scale", "4", "--output", graph}).status, 0);
    return {program, "wcc", graph, "--device", device, "--output", folder_ / (device + ".h5")};
  }

  static Finished run(std::vector<std::string> words) { return Process(std::move(words)).wait(); }

  static auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

  TemporaryFolder folder_;
};

TEST_F(DeviceCheck, TheHostIsTakenSilentlyWithoutAGpu) {
  auto words = job(paths::kProgram, "auto");
  words.insert(words.begin(), {"/usr/bin/env", "CUDA_VISIBLE_DEVICES="});
  const Finished done = run(words);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(lines(done.err), 1) << done.err;  // the summary alone
  EXPECT_NE(done.err.find("on host, "), done.err.npos) << done.err;
}

TEST_F(DeviceCheck, AnyGpuIsRefusedWithOneLineWithoutOne) {
  auto words = job(paths::kProgram, "cuda");
  words.insert(words.begin(), {"/usr/bin/env", "CUDA_VISIBLE_DEVICES="});
  const Finished done = run(words);
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(lines(done.err), 1) << done.err;
  EXPECT_NE(done.err.find("--device cuda: no usable GPU ("), done.err.npos) << done.err;
}

#if defined(SLUICE_FOREIGN_PROGRAM)
TEST_F(DeviceCheck, TheHostIsTakenWithOneLineWhereTheGpuRunsOtherCode) {
  REQUIRE_GPU(open_gpu());
  const Finished done = run(job(SLUICE_FOREIGN_PROGRAM, "auto"));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(lines(done.err), 2) << done.err;  // the reason and the summary
  EXPECT_TRUE(done.err.starts_with("wcc: runs on the host, since the GPU cannot be used (")) << done.err;
  EXPECT_NE(done.err.find("this build has code for 75-real"), done.err.npos) << done.err;
}

TEST_F(DeviceCheck, AGpuThatRunsOtherCodeIsRefusedWithOneLine) {
  REQUIRE_GPU(open_gpu());
  const Finished done = run(job(SLUICE_FOREIGN_PROGRAM, "cuda"));
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(lines(done.err), 1) << done.err;
  EXPECT_NE(done.err.find("this build has code for 75-real"), done.err.npos) << done.err;
}
#endif

}  // namespace
}  // namespace sluice::test

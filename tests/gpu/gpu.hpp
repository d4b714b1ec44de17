// Helpers of GPU tests: the GPU if there is one, and the amount of work.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "partition/graph.hpp"

namespace sluice::test {

/// Opens the GPU; null without one, and tests are reported as skipped.
inline std::unique_ptr<Device> open_gpu(std::uint64_t memory = 0) {
  try {
    return std::make_unique<Device>(DeviceOptions{DeviceChoice::cuda, 2, memory});
  } catch (const std::exception&) {
    return nullptr;
  }
}

#define REQUIRE_GPU(device) \
  if (!(device)) GTEST_SKIP() << "no usable GPU"

/// Fixture of tests that compare a GPU with the host.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    gpu_ = open_gpu();
    REQUIRE_GPU(gpu_);
  }

  const Device host_{{DeviceChoice::host, usable_cores(), 0}};
  std::unique_ptr<Device> gpu_;
};

/// The scale of the large R-MAT graph. Under a sanitizer, a hundred times slower, scripts/gpu sets a smaller
/// one.
inline unsigned rmat_scale() {
  const char* const given = std::getenv("SLUICE_TEST_RMAT_SCALE");
  if (!given) return 20;
  const std::string text = given;
  if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos ||
      std::stoul(text) < 8 || std::stoul(text) > 28) {
    throw std::invalid_argument("SLUICE_TEST_RMAT_SCALE=" + text + ": give a whole number from 8 to 28");
  }
  return static_cast<unsigned>(std::stoul(text));
}

/// True under a sanitizer. Each launch then costs milliseconds, so a test launches each kernel a few times
/// instead of hundreds.
inline bool brief() {
  return rmat_scale() < 12;
}

/// The amount of other work: `usually`, or at most `watched` under a sanitizer.
inline std::uint64_t at_most(std::uint64_t usually, std::uint64_t watched) {
  return brief() ? std::min(usually, watched) : usually;
}

/// Under a sanitizer every `stride`-th job from `first` on; otherwise all jobs.
template <class Job>
std::vector<Job> watched(std::vector<Job> jobs, std::size_t first, std::size_t stride) {
  if (!brief()) return jobs;
  std::vector<Job> some;
  for (std::size_t i = first % stride; i < jobs.size(); i += stride) some.push_back(jobs[i]);
  return some;
}

/// The device holds a quarter of the partitions; under a sanitizer there are few, to bound the time.
inline PagingOptions quarter_on_device() {
  return {.partitions = brief() ? 8u : 64u, .slots = brief() ? 2u : 16u, .transport = Transport::copied};
}

/// Work in proportion to the graph: `at_most`, fewer on a smaller graph.
inline Instance instances_of(const Graph& graph, Instance at_most) {
  return std::min<Instance>(at_most, graph.vertices() / 3);
}

}  // namespace sluice::test

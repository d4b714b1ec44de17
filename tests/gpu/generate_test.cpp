// Synthetic graphs generated on a GPU give the file of the host's threads, byte by byte. Memory holds all
// edges, or those of few sources at a time.
#include <gtest/gtest.h>

#include <string>

#include "cli/process.hpp"
#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "io/convert/convert.hpp"
#include "io/generate/generate.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {
namespace {

class GpuGenerate : public OnGpu {
 protected:
  /// Returns the file that `device` generates, and sets its statistics.
  std::string made(const Device& device, io::GenerateOptions generate, io::ConvertOptions options,
                   io::ConvertStats& stats) {
    generate.device = &device, generate.threads = 2;
    options.threads = 2, options.force = true;
    const std::string path = folder_ / "graph.h5";
    const auto source = io::make_generator(generate);
    stats = io::convert(*source, path, options);
    return read_file(path);
  }

  void expect_same(const Device& gpu, const io::GenerateOptions& generate,
                   const io::ConvertOptions& options) {
    io::ConvertStats expected, found;
    const std::string by_host = made(host_, generate, options, expected);
    const std::string by_gpu = made(gpu, generate, options, found);
    EXPECT_TRUE(by_gpu == by_host);
    EXPECT_EQ(found.checksum, expected.checksum);
    EXPECT_EQ(found.edges, expected.edges);
    EXPECT_EQ(found.input_edges, expected.input_edges);
    EXPECT_EQ(found.self_loops, expected.self_loops);
    EXPECT_EQ(found.duplicates, expected.duplicates);
    EXPECT_EQ(found.unused_ids, expected.unused_ids);
  }

  /// Every kind with every combination of stored arrays.
  void expect_same_graphs(const Device& gpu, unsigned scale, unsigned edge_factor) {
    for (const auto kind : {io::GraphKind::rmat, io::GraphKind::kronecker, io::GraphKind::uniform,
                            io::GraphKind::grid, io::GraphKind::ring}) {
      for (unsigned bits = 0; bits < 16; bits += brief() ? 5 : 1) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", bits " << bits);
        io::ConvertOptions options;
        options.undirected = bits & 1;
        options.reverse = bits & 2;
        options.compact = bool(bits & 4);
        options.weights = bits & 8 ? io::WeightRule::uniform : io::WeightRule::none;
        options.seed = 7;
        expect_same(gpu, {kind, scale, edge_factor, 5}, options);
      }
    }
  }

  TemporaryFolder folder_;
};

TEST_F(GpuGenerate, MakesTheHostsFilesOfSmallGraphs) {
  for (const unsigned scale : {0u, 1u, 2u, 7u}) expect_same_graphs(*gpu_, scale, 3);
}

TEST_F(GpuGenerate, MakesTheHostsFilesWithMemoryForSomeSourcesAtATime) {
  constexpr std::uint64_t kMemory = 1u << 20;
  const auto small = open_gpu(kMemory);
  const unsigned scale = 12, edge_factor = 32;
  ASSERT_GT((std::uint64_t{edge_factor} << scale) * 2 * sizeof(std::uint64_t), kMemory);
  expect_same_graphs(*small, scale, edge_factor);
  EXPECT_LE(small->memory().peak(), kMemory);
  EXPECT_EQ(small->memory().used(), 0u);
}

TEST_F(GpuGenerate, MakesTheHostsFileOfALargeGraph) {
  io::ConvertOptions options;
  options.undirected = true, options.compact = false;
  expect_same(*gpu_, {io::GraphKind::kronecker, rmat_scale(), 16, 1}, options);
}

TEST_F(GpuGenerate, RefusesSourcesWhoseEdgesDoNotFit) {
  const auto small = open_gpu(1u << 20);
  io::ConvertStats stats;
  EXPECT_THROW(made(*small, {io::GraphKind::rmat, 4, 1u << 15, 1}, {}, stats), BudgetError);
}

}  // namespace
}  // namespace sluice::test

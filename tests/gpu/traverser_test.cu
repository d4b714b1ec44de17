// A GPU's traverser compared with the host's: rows and lists of all classes of degrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/exec/memory/shared_words.hpp"
#include "engine/traverse/cuda_traverser.cuh"
#include "gpu/gpu.hpp"

namespace sluice {
namespace {

/// Degrees around every threshold, and more rows than a block has lanes.
std::vector<EdgeIndex> offsets_of_rows() {
  const std::vector<EdgeIndex> degrees{0,  1,  2,  3,   15,  16,  17,   31,   32,   33,
                                       48, 63, 64, 511, 512, 513, 2047, 4095, 4096, 9000};
  std::vector<EdgeIndex> offsets{0};
  for (unsigned row = 0; row < 20'000; ++row)
    offsets.push_back(offsets.back() + degrees[row % 7 == 0 ? row / 7 % degrees.size() : row % 6]);
  return offsets;
}

/// Some rows have their first hit among the edges that a single lane reads; others later, or never.
struct FirstHit {
  const EdgeIndex* offsets;
  EdgeIndex* taken;

  SLUICE_HD bool wants(std::uint64_t row) const { return row % 7 != 3; }
  SLUICE_HD bool hits(EdgeIndex e) const { return e * 2654435761u % 4099 < 60; }
  template <class Lane>
  SLUICE_HD bool accept(std::uint64_t row, EdgeIndex e, Lane&) const {
    taken[row] = e;
    return true;
  }
};

/// Sums of the values of edges, up to a bound that stops a row.
struct SumOfRow {
  using Value = unsigned long long;
  Value* totals;
  Value most;

  SLUICE_HD bool begin(std::uint64_t row, Value& before) const {
    before = row;
    return row % 5 != 2;
  }
  SLUICE_HD Value identity(Value) const { return 0; }
  SLUICE_HD bool receives(std::uint64_t, EdgeIndex e, Value& value) const {
    if (e % 3 != 0) return false;
    value = e % 13;
    return true;
  }
  SLUICE_HD Value join(Value a, Value b) const { return a + b; }
  SLUICE_HD bool stops(Value, Value total) const { return total > most; }
  template <class Lane>
  SLUICE_HD void end(std::uint64_t row, Value before, Value total, Lane&) const {
    totals[row] = before + (total > most ? most : total);
  }
};

struct CountEdges {
  unsigned long long* seen;

  SLUICE_HD bool sends(Vertex u) const { return u % 4 != 1; }
  template <class Lane>
  SLUICE_HD void edge(Vertex u, EdgeIndex e, Lane&) const {
    fetch_add(seen + e, std::uint64_t{u} + 1);
  }
};

class GpuTraverser : public test::OnGpu {
 protected:
  /// Calls run(traverser, output, offsets, words). Returns `size` words, initially zero, followed by sums[0].
  template <class Run>
  std::vector<unsigned long long> words_of(std::uint64_t size, const Run& run) const {
    const Buffer<EdgeIndex> there(*gpu_, offsets_.size(), "a test");
    const Buffer<unsigned long long> words(*gpu_, size + LaneOutput::kSums, "a test");
    copy_to_device(*gpu_, there.data(), offsets_.data(), there.bytes());
    cuda::CudaTraverser traverser(*gpu_, offsets_.back());
    traverser.fill(words.data(), 0, words.bytes());
    LaneOutput output;
    output.sums = words.data() + size;
    run(traverser, output, there.data(), words.data());
    traverser.wait("a test");
    std::vector<unsigned long long> found(size + 1);
    copy_to_host(*gpu_, found.data(), words.data(), found.size() * sizeof found[0]);
    return found;
  }

  const std::vector<EdgeIndex> offsets_ = offsets_of_rows();
  const std::uint64_t rows_ = offsets_.size() - 1;
};

TEST_F(GpuTraverser, TakesTheFirstEdgeThatHits) {
  const auto found = words_of(rows_, [&](auto& traverser, const LaneOutput& output, const EdgeIndex* offsets,
                                         unsigned long long* words) {
    traverser.first_edge({0, rows_, offsets}, output, FirstHit{offsets, reinterpret_cast<EdgeIndex*>(words)});
  });
  const FirstHit body{};
  unsigned long long edges = 0;
  for (std::uint64_t row = 0; row < rows_; ++row) {
    EdgeIndex e = offsets_[row];
    while (body.wants(row) && e < offsets_[row + 1] && !body.hits(e)) ++e;
    const bool takes = body.wants(row) && e < offsets_[row + 1];
    ASSERT_EQ(found[row], takes ? e : 0) << row;
    edges += e - offsets_[row] + takes;
  }
  EXPECT_EQ(found[rows_], edges);
}

TEST_F(GpuTraverser, ReducesRows) {
  for (const unsigned long long most : {~0ull, 40ull}) {
    const auto found = words_of(rows_, [&](auto& traverser, const LaneOutput& output,
                                           const EdgeIndex* offsets, unsigned long long* words) {
      traverser.reduce_rows({0, rows_, offsets}, output, SumOfRow{words, most});
    });
    const SumOfRow body{nullptr, most};
    for (std::uint64_t row = 0; row < rows_; ++row) {
      unsigned long long before = 0, edges = 0;
      const bool takes = body.begin(row, before);
      const auto total = reduce_edges(body, row, before, offsets_[row], offsets_[row + 1], edges);
      ASSERT_EQ(found[row], takes ? before + std::min(total, most) : 0) << row;
    }
  }
}

/// All vertices, some vertices, and lists in mapped memory, which only their address shows.
TEST_F(GpuTraverser, GoesOverTheEdgesOfVerticesThatSend) {
  for (const auto& [count, mapped] : {std::pair{rows_, false}, {std::uint64_t{700}, false}, {rows_, true}}) {
    const auto found = words_of(offsets_.back(), [&](auto& traverser, const LaneOutput& output,
                                                     const EdgeIndex* offsets, unsigned long long* words) {
      const auto* const at = mapped ? reinterpret_cast<const Vertex*>(words) : nullptr;
      traverser.for_each_edge({nullptr, 0, count, 0, offsets, at}, output, CountEdges{words});
    });
    unsigned long long edges = 0;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      const bool sends = row < count && row % 4 != 1;
      edges += sends ? offsets_[row + 1] - offsets_[row] : 0;
      for (EdgeIndex e = offsets_[row]; e < offsets_[row + 1]; ++e) ASSERT_EQ(found[e], sends ? row + 1 : 0);
    }
    EXPECT_EQ(found[offsets_.back()], edges);
  }
}

}  // namespace
}  // namespace sluice

// A block finds and sorts the result list of a query in its column. Bins, 16 per power of two, show where the
// last entry of the list must be. What ranks before it is then few enough to be sorted.
#pragma once

#include <cstdint>

#include "engine/exec/block_group.cuh"
#include "engine/ppr/dense/kernels.cuh"
#include "engine/ppr/methods/group_select.hpp"

namespace sluice::ppr {

inline constexpr unsigned kSelectBlock = 256;
using SelectBlock = BlockGroup<kSelectBlock>;

/// As doubles, scores are at least 2^-63 and at most 1.
inline constexpr unsigned kMinBin = (1023 - 63) << 4, kScoreBins = (63 << 4) + 1;
static_assert(kScoreBins >= RankDigits::kBins);
inline constexpr std::uint32_t kCandidates = 1024;  ///< if the first bins have more, digits are counted

struct DenseSelectShared {
  SelectBlock::Workspace block_workspace;
  std::uint32_t bins[kScoreBins];
  RankedVertex list[kCandidates];
  std::uint32_t listed;
};

/// A query's column, read by a block.
class DenseColumn {
 public:
  __device__ DenseColumn(const DenseView& view, std::uint32_t query)
      : group_(view.group(query / view.shape.width)),
        vertices_(view.shape.vertices),
        width_(view.shape.width),
        column_(query % view.shape.width) {}

  __device__ std::uint32_t size() const { return static_cast<std::uint32_t>(vertices_); }
  __device__ RankedVertex at(std::uint32_t vertex) const {
    const Mass score = score_of(vertex, group_.reached()[vertex]);
    return {score == 0 ? 0 : bits_of(from_mass(score)), vertex};
  }
  /// Calls use(vertex, score) for all reached vertices; several reads are in flight at once.
  template <class Use>
  __device__ void for_each(Use&& use) const {
    constexpr unsigned kAtOnce = 4;
    for (std::uint64_t first = threadIdx.x; first < vertices_; first += kAtOnce * kSelectBlock) {
      std::uint32_t reached[kAtOnce];
      Mass scores[kAtOnce];
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        const std::uint64_t vertex = first + i * kSelectBlock;
        reached[i] = vertex < vertices_ ? group_.reached()[vertex] : 0;
      }
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) scores[i] = score_of(first + i * kSelectBlock, reached[i]);
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if (reached[i] >> column_ & 1) use(static_cast<Vertex>(first + i * kSelectBlock), scores[i]);
      }
    }
  }

 private:
  __device__ Mass score_of(std::uint64_t vertex, std::uint32_t reached) const {
    return reached >> column_ & 1 ? group_.scores()[vertex * width_ + column_] : 0;
  }

  DenseGroupView group_;
  std::uint64_t vertices_, width_;
  std::uint32_t column_;
};

__device__ inline unsigned bin_of(std::uint64_t key) {
  return static_cast<unsigned>(key >> 48) - kMinBin;
}

// ---- kernels

/// A block per query: writes its result list, as QuerySolver::write_top(), and its figures.
__global__ void __launch_bounds__(kSelectBlock) dense_select_kernel(const __grid_constant__ DenseView view) {
  __shared__ alignas(16) unsigned char memory[sizeof(DenseSelectShared)];
  auto& shared = *reinterpret_cast<DenseSelectShared*>(memory);
  const SelectBlock block(shared.block_workspace);
  const std::uint32_t query = blockIdx.x, row = view.rows[query], top = view.rules.top;
  const DenseColumn column(view, query);
  for (unsigned bin = block.rank(); bin < kScoreBins; bin += kSelectBlock) shared.bins[bin] = 0;
  if (block.rank() == 0) shared.listed = 0;
  block.sync();
  Mass scored = 0;
  std::uint32_t reached = 0, present = 0;
  column.for_each([&](Vertex, Mass score) {
    ++reached;
    if (score == 0) return;
    scored += score;
    ++present;
    atomicAdd(&shared.bins[bin_of(bits_of(from_mass(score)))], 1u);
  });
  scored = block.sum(scored), reached = block.sum(reached), present = block.sum(present);
  const std::uint32_t found = present < top ? present : top;
  std::uint32_t sorted = 0;
  if (found > 0) {
    const LastBin last = find_last_bin(block, shared.bins, kScoreBins, found);
    RankCut cut;  // accepts all
    sorted = last.above + last.in_bin;
    if (sorted > kCandidates) {
      sorted = found;
      cut = select_first(block, shared.bins, column.size(), found,
                         [&](std::uint32_t i) { return column.at(i); });
    }
    column.for_each([&](Vertex vertex, Mass score) {
      if (score == 0) return;
      const RankedVertex v{bits_of(from_mass(score)), vertex};
      if (bin_of(v.key) >= last.bin && cut.accepts(v)) shared.list[atomicAdd(&shared.listed, 1u)] = v;
    });
    block.sync();
    sort_ranked(block, shared.list, sorted);
  }
  const std::uint64_t list = std::uint64_t{row} * top;
  for (std::uint32_t i = block.rank(); i < top; i += kSelectBlock) {
    view.batch.vertices[list + i] = i < found ? shared.list[i].vertex : kNoVertex;
    view.batch.scores[list + i] = i < found ? double_of(shared.list[i].key) : 0.0;
  }
  if (block.rank() != 0) return;
  GroupFigures figures;
  figures.scored = scored;
  figures.edges = view.counts[query].edges;
  figures.reached = reached;
  figures.nanoseconds = cuda::nanoseconds_now() - view.counts[query].begin;
  view.batch.figures[row] = figures;
}

}  // namespace sluice::ppr

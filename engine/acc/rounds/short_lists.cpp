#include "engine/acc/rounds/short_lists.hpp"

#include <algorithm>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kRowsPerBlock = 1u << 16;

/// Edges of a row's list if it is short, else 0.
std::uint64_t short_edges(const CsrView& lists, std::uint64_t row) {
  const std::uint64_t degree = lists.offsets[row + 1] - lists.offsets[row];
  return degree <= ShortLists::kMaxEdges ? degree : 0;
}

/// [blocks of rows + 1] edges of short lists before each block.
std::vector<EdgeIndex> edges_before(const CsrView& lists, unsigned threads) {
  std::vector<EdgeIndex> before(lists.vertices / kRowsPerBlock + 2);
  parallel_blocks(threads, lists.vertices, kRowsPerBlock,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    EdgeIndex sum = 0;
                    for (std::uint64_t row = begin; row < end; ++row) sum += short_edges(lists, row);
                    before[begin / kRowsPerBlock + 1] = sum;
                  });
  for (std::size_t block = 1; block < before.size(); ++block) before[block] += before[block - 1];
  return before;
}

}  // namespace

ShortLists::ShortLists(const Device& device, const CsrView& lists, bool weighted, std::uint64_t max_bytes) {
  const std::vector<EdgeIndex> before = edges_before(lists, device.threads());
  const EdgeIndex edges = before.back();
  if (edges == 0 || (lists.vertices + 1) * sizeof(EdgeIndex) + edge_bytes(edges, weighted) > max_bytes)
    return;
  offsets_ = Buffer<EdgeIndex>(device, lists.vertices + 1, "short lists");
  targets_ = Buffer<Vertex>(device, edges, "short lists");
  if (weighted) weights_ = Buffer<float>(device, edges, "short lists");
  rows_ = lists.vertices;
  if (device.is_planning()) return;
  HostArray<EdgeIndex> offsets(lists.vertices + 1, "short lists");
  parallel_blocks(device.threads(), lists.vertices, kRowsPerBlock,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    EdgeIndex next = before[begin / kRowsPerBlock];
                    for (std::uint64_t row = begin; row < end; ++row) {
                      offsets[row] = next;
                      next += short_edges(lists, row);
                    }
                  });
  offsets[lists.vertices] = edges;
  copy_to_device(device, offsets_.data(), offsets.data(), offsets_.bytes());
}

ShortLists ShortLists::make(const Device& device, const RankPart& part, const SweepRows& lists,
                            std::uint64_t memory) {
  const PagingOptions& paging = part.paging();
  const bool in_place = device.is_cuda() && paging.transport == Transport::automatic;
  if (!in_place || lists.file != nullptr || lists.max_degree != 0) return {};
  if (paging.slots > 0 && paging.partitions > 0) {
    const std::uint64_t slot = edge_bytes(lists.csr.edges, part.weighted()) / paging.partitions;
    memory = std::min(memory, paging.slots * slot);
  }
  try {
    return ShortLists(device, lists.csr, part.weighted(), memory / 4);
  } catch (const BudgetError&) {
    return {};  // a run can do without
  }
}

}  // namespace sluice::acc

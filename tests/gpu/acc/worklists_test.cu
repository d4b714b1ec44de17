// Worklists of the ballot filter are in the order of vertices with every team and every rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "acc/marked_lists.hpp"
#include "engine/acc/resident_cuda/peers.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/exec/cuda_executor.cuh"
#include "gpu/gpu.hpp"

namespace sluice::test {
namespace {

class GpuWorklists : public OnGpu {};

/// The lists of a whole graph, or those of a rank that owns vertices [from, to).
struct ListsPart {
  using Peers = acc::NoPeers;

  CsrView lists;
  std::uint64_t from, to;

  const CsrView& out() const { return lists; }
  const EdgeIndex* degrees() const { return lists.offsets; }
  std::uint64_t vertices() const { return lists.vertices; }
  std::uint64_t first() const { return from; }
  std::uint64_t own_vertices() const { return to - from; }
};

template <class Team>
__device__ Team team_of(const acc::WorklistView& view) {
  if constexpr (std::is_same_v<Team, cuda::FewTeam>) {
    return {gridDim.x, view.arrived};
  } else {
    return {};
  }
}

/// Builds worklists from the marks that round 0 wrote.
template <class Team>
__global__ void __launch_bounds__(cuda::kTeamBlock) whole_lists_kernel(acc::WorklistView view) {
  const auto team = team_of<Team>(view);
  const acc::RoundBuffers buffers = view.buffers(0);
  const acc::Finder finder(view, team.rank(), buffers);
  acc::collect(team, view, buffers, finder, false);
}

/// Builds the worklists of a rank. It marks the vertices that it sends in the bitmap of active vertices, and
/// receives all vertices before its own range.
template <class Team>
__global__ void __launch_bounds__(cuda::kTeamBlock) rank_lists_kernel(acc::WorklistView view) {
  const auto team = team_of<Team>(view);
  const acc::RoundBuffers buffers = view.buffers(0);
  acc::count_marked(team, view, buffers, [&](bool valid, Vertex v) {
    if (valid) atomicOr(view.bits[buffers.now] + v / 32, 1u << (v % 32));
  });
  team.sync();
  acc::scan_marked(team, view, buffers);
  team.sync();  // stands for an exchange between ranks
  acc::write_marked(team, view, buffers);
  cuda::for_each_in_warps(team, view.first, [&](std::uint64_t v, bool valid) {
    acc::append(view, buffers, valid, static_cast<Vertex>(v));
  });
}

/// Degrees for all three worklists. Ranges of 1000 vertices have few marks, all marks, or none, by turns.
struct MarkedGraph {
  explicit MarkedGraph(Vertex size) : vertices(size), marks((size + 31) / 32) {
    for (Vertex v = 0; v < vertices; ++v) {
      begins.push_back(begins.back() + (v % 97 == 0 ? 600 : v % 5 == 0 ? 20 : v % 3));
      if (v / 1000 % 3 == 0 ? v * 2654435761u % 64 == 0 : v / 1000 % 3 == 1) marks[v / 32] |= 1u << (v % 32);
    }
  }
  /// The vertices of [from, to) with the list's degrees that are marked; `all`: marked or not.
  std::vector<Vertex> of_list(unsigned list, std::uint64_t from, std::uint64_t to, bool all = false) const {
    std::vector<Vertex> some;
    for (auto v = static_cast<Vertex>(from); v < to; ++v) {
      const std::uint64_t degree = begins[v + 1] - begins[v];
      const unsigned of_degree = degree < kWarpDegree ? 0 : degree < kBlockDegree ? 1 : 2;
      if (of_degree == list && (all || (marks[v / 32] >> (v % 32) & 1) != 0)) some.push_back(v);
    }
    return some;
  }

  Vertex vertices;
  std::vector<EdgeIndex> begins{0};
  std::vector<std::uint32_t> marks;
};

/// The worklists that the kernel builds; `sent` receives the marks of the vertices that it sends.
std::vector<std::vector<Vertex>> lists_of(const Device& gpu, const MarkedGraph& graph, const ListsPart& part,
                                          void (*kernel)(acc::WorklistView), unsigned blocks,
                                          acc::AccFilter filter, std::vector<std::uint32_t>& sent) {
  const cuda::Stream stream;
  const acc::WorklistMemory memory(gpu, part, {.filter = filter}, blocks, stream);
  stream.wait("clearing");
  const acc::WorklistView& view = memory.view();
  std::vector<std::uint32_t> own = graph.marks;  // a rank has no marks of other ranks' vertices
  for (Vertex v = 0; v < graph.vertices; ++v)
    if (v < part.from || v >= part.to) own[v / 32] &= ~(1u << (v % 32));
  copy_to_device(gpu, view.bits[1], own.data(), own.size() * sizeof(std::uint32_t));
  acc::RoundCounts counts[2];
  counts[0].overflow = filter == acc::AccFilter::jit;
  copy_to_device(gpu, view.counts, counts, sizeof counts);

  cuda::launch_cooperative(kernel, blocks, cuda::kTeamBlock, stream.get(), view);

  stream.wait("worklists");
  copy_to_host(gpu, counts, view.counts, sizeof counts);
  std::vector<std::vector<Vertex>> found;
  for (unsigned i = 0; i < kDegreeLists; ++i) {
    found.emplace_back(std::min<std::size_t>(counts[1].sizes[i], graph.vertices));
    copy_to_host(gpu, found[i].data(), view.lists[1] + view.begins.by_class[i],
                 found[i].size() * sizeof(Vertex));
  }
  sent.resize(own.size());
  copy_to_host(gpu, sent.data(), view.bits[0], sent.size() * sizeof(std::uint32_t));
  return found;
}

/// Calls use(kernel, blocks) for teams of one block, of some blocks, and of all blocks.
template <class Use>
void on_teams(void (*grid)(acc::WorklistView), void (*few)(acc::WorklistView), const Use& use) {
  for (const unsigned blocks : {1u, 7u, cuda::resident_blocks(grid, cuda::kTeamBlock, 0)}) use(grid, blocks);
  for (const unsigned blocks : {1u, cuda::kFewBlocks}) use(few, blocks);
}

TEST_F(GpuWorklists, AreInOrderOnWholeGraphs) {
  const MarkedGraph graph(static_cast<Vertex>(at_most(300'007, 5'003)));
  Buffer<EdgeIndex> offsets(*gpu_, graph.begins.size(), "offsets");
  copy_to_device(*gpu_, offsets.data(), graph.begins.data(), offsets.bytes());
  const ListsPart part{{graph.vertices, graph.begins.back(), offsets.data()}, 0, graph.vertices};
  for (const acc::AccFilter filter : {acc::AccFilter::jit, acc::AccFilter::ballot}) {
    on_teams(whole_lists_kernel<cuda::GridTeam>, whole_lists_kernel<cuda::FewTeam>,
             [&](auto kernel, unsigned blocks) {
               SCOPED_TRACE(blocks);
               std::vector<std::uint32_t> sent;
               const auto found = lists_of(*gpu_, graph, part, kernel, blocks, filter, sent);
               for (unsigned i = 0; i < kDegreeLists; ++i)
                 EXPECT_EQ(found[i], graph.of_list(i, 0, graph.vertices));
             });
  }
}

TEST_F(GpuWorklists, OfARankBeginWithItsOwnInOrder) {
  const MarkedGraph graph(static_cast<Vertex>(at_most(300'007, 5'003)));
  Buffer<EdgeIndex> offsets(*gpu_, graph.begins.size(), "offsets");
  copy_to_device(*gpu_, offsets.data(), graph.begins.data(), offsets.bytes());
  const std::uint64_t ranges[][2] = {{0, 2'001}, {1'013, 4'099}, {1'013, graph.vertices}, {3'050, 3'050}};
  for (const auto& range : ranges) {
    const std::uint64_t from = range[0], to = range[1];
    SCOPED_TRACE(from);
    const ListsPart part{{graph.vertices, graph.begins.back(), offsets.data()}, from, to};
    on_teams(rank_lists_kernel<cuda::GridTeam>, rank_lists_kernel<cuda::FewTeam>,
             [&](auto kernel, unsigned blocks) {
               SCOPED_TRACE(blocks);
               std::vector<std::uint32_t> sent;
               const auto found = lists_of(*gpu_, graph, part, kernel, blocks, acc::AccFilter::ballot, sent);
               std::vector<std::uint32_t> listed(sent.size());
               for (unsigned i = 0; i < kDegreeLists; ++i) {
                 std::vector<Vertex> expected = graph.of_list(i, from, to), found_now = found[i];
                 for (const Vertex v : expected) listed[v / 32] |= 1u << (v % 32);
                 ASSERT_GE(found_now.size(), expected.size());
                 const auto received = graph.of_list(i, 0, from, true);
                 std::sort(found_now.begin() + static_cast<std::ptrdiff_t>(expected.size()), found_now.end());
                 expected.insert(expected.end(), received.begin(), received.end());
                 EXPECT_EQ(found_now, expected);
               }
               EXPECT_EQ(sent, listed);
             });
  }
}

TEST_F(GpuWorklists, AreInOrderInPartitions) {
  for (const MarkedCase& marked : marked_cases()) {
    SCOPED_TRACE(marked.name);
    cuda::CudaExecutor executor(*gpu_);

    const FoundList found = list_marked(*gpu_, executor, marked);

    const std::vector<Vertex> expected = marked.expected();
    EXPECT_EQ(found.vertices, expected);
    EXPECT_EQ(found.edges, std::accumulate(expected.begin(), expected.end(), std::uint64_t{0},
                                           [](std::uint64_t sum, Vertex v) { return sum + v % 5; }));
  }
}

}  // namespace
}  // namespace sluice::test

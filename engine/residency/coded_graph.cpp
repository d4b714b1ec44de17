#include "engine/residency/coded_graph.hpp"

#include <algorithm>
#include <atomic>

#include "engine/core/accountant.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/select/elias_fano.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kGrain = 1024;
/// Where a list begins is kept in 32 bits.
constexpr std::uint64_t kMostWords = 0xffffffff;

std::uint32_t degree_of(const CsrView& graph, std::uint64_t v) {
  return static_cast<std::uint32_t>(graph.offsets[v + 1] - graph.offsets[v]);
}

}  // namespace

HostArray<EdgeIndex> coded_offsets(const CsrView& graph) {
  HostArray<EdgeIndex> offsets(graph.vertices + 1, "where coded lists begin");
  EdgeIndex words = 0;
  for (std::uint64_t v = 0; v < graph.vertices; ++v) {
    offsets[v] = words;
    if (const std::uint32_t degree = degree_of(graph, v); degree > 0)
      words += EliasFano::of(graph.vertices, degree).words();
  }
  offsets[graph.vertices] = words;
  return offsets;
}

bool wants_codes(const Device& device, const Graph& graph, Layout layout) {
  if (layout == Layout::coded && graph.edges_elsewhere)
    throw UsageError("--layout coded: the graph stays in its file (raise --host-memory, or use csr or auto)");
  if (layout != Layout::automatic) return layout == Layout::coded;
  if (!device.is_cuda() || graph.edges_elsewhere) return false;
  // Short lists gain nothing: each has a beginning of its own, and ends with a word.
  const std::uint64_t words = coded_offsets(graph.out.view())[graph.vertices()] + graph.vertices();
  return words < graph.edges() / 8 * 7;
}

std::optional<CodedGraph> CodedGraph::of(const Device& device, const CsrView& graph) {
  const auto fits = [](std::uint64_t bytes) { return bytes <= host_accountant().available(); };
  if (!fits((graph.vertices + 1) * (sizeof(EdgeIndex) + sizeof(std::uint32_t)))) return std::nullopt;
  for (std::uint64_t v = 0; v < graph.vertices; ++v) {
    if (degree_of(graph, v) > EliasFano::kMostTargets) return std::nullopt;
  }
  CodedGraph coded;
  {
    const HostArray<EdgeIndex> offsets = coded_offsets(graph);
    const EdgeIndex words = offsets[graph.vertices];
    if (words > kMostWords || !fits(words * sizeof(std::uint32_t))) return std::nullopt;
    coded.begins_ = Staging<std::uint32_t>(device, offsets.size(), "coded lists");
    coded.words_ = Staging<std::uint32_t>(device, words, "coded lists");
    std::ranges::transform(offsets, coded.begins_.data(),
                           [](EdgeIndex word) { return static_cast<std::uint32_t>(word); });
  }
  std::atomic<bool> sorted{true};
  parallel_blocks(
      device.threads(), graph.vertices, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
        const std::uint32_t* const begins = coded.begins_.data();
        std::fill(coded.words_.data() + begins[from], coded.words_.data() + begins[to], 0);
        for (std::uint64_t v = from; v < to; ++v) {
          const std::uint32_t degree = degree_of(graph, v);
          if (degree == 0) continue;
          const EliasFano code = EliasFano::of(graph.vertices, degree);
          if (!code.write({graph.targets + graph.offsets[v], degree}, coded.words_.data() + begins[v]))
            sorted = false;
        }
      });
  if (!sorted) return std::nullopt;
  return coded;
}

}  // namespace sluice

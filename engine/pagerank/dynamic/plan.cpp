#include "engine/pagerank/dynamic/plan.hpp"

#include <algorithm>

#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/changed_rows.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"

namespace sluice::pagerank {

namespace {

/// Memory for a batch beside the graph, as a part of what it takes, and for counters.
constexpr std::uint64_t kBatchPart = 12;
constexpr std::uint64_t kFixedBytes = std::uint64_t{1} << 20;
/// On a GPU: three columns of 8 bytes and three of 1, and three lists of vertices in two orders, of own
/// vertices; and what all vertices offer, twice.
constexpr std::uint64_t kDeviceRow = 3 * 8 + 3 + 3 * 2 * sizeof(Vertex), kDeviceVertex = 2 * 8;
/// Where in-edges come in partitions: their offsets, ranks that have a loop, and a list of those that
/// changed.
constexpr std::uint64_t kPagedRow = sizeof(EdgeIndex) + 8 + sizeof(Vertex);
/// On the host: a rank, and what it offers.
constexpr std::uint64_t kHostRow = sizeof(FixedRank), kHostVertex = 8;
/// In host memory on either: divisor, loop and flags, sums of residuals and whether they are known, a result.
constexpr std::uint64_t kKnownRow =
    sizeof(double) + sizeof(Loop) + 1 + sizeof(FixedRank) + 1 + sizeof(double);

/// And on the host five lists of own vertices, and their next ranks; what sources had sent before.
constexpr std::uint64_t kHostListsRow = 5 * sizeof(Vertex) + sizeof(FixedRank), kHostSentVertex = 8;

std::uint64_t edge_bytes(const Options& options) {
  return sizeof(Vertex) + (options.weighted ? sizeof(float) : 0);
}

/// Of ranks with GPUs: changed rows on their way between these, and where they are not connected, in and out
/// of the host.
struct ExchangeBytes {
  std::uint64_t device = 0, host = 0;
};
ExchangeBytes exchange_bytes(const Device& device, std::uint64_t vertices, std::uint64_t ranks) {
  if (!device.is_cuda() || ranks == 1) return {};
  return {ranks * entries_at_once(vertices) * Router::kEntryBytes<FixedRank>,
          2 * exchanged_at_once(vertices, ranks)};
}

std::uint64_t whole_bytes(const Graph& graph, const Options& options) {
  const std::uint64_t n = graph.vertices();
  const std::uint64_t lists = (n + 1) * sizeof(EdgeIndex) + graph.edges() * edge_bytes(options);
  const std::uint64_t all = lists * (graph.directed ? 3 : 2) + n * (kDeviceRow + kDeviceVertex);
  return all + all / kBatchPart + kFixedBytes;
}

/// In-edges that are made: what stays, and what it takes to make them.
struct MadeBytes {
  std::uint64_t kept = 0, making = 0;
};
MadeBytes made_bytes(const Graph& graph) {
  if (!graph.directed || !graph.in.offsets.empty() || graph.edges_elsewhere) return {};
  const std::uint64_t record = graph.out.weights.empty() ? 8 : 12, m = graph.edges();
  const std::uint64_t kept = (graph.vertices() + 1) * sizeof(EdgeIndex) + m * (record - sizeof(Vertex));
  return {kept, m * record + std::max(m * record, kept)};
}

}  // namespace

bool stays_whole(const Device& device, const Graph& graph, const Options& options,
                 const PagingOptions& paging) {
  if (paging.partitions > 1 || paging.slots > 0 || paging.transport != Transport::automatic) return false;
  if (graph.edges_elsewhere) return false;
  return paging.partitions == 1 || whole_bytes(graph, options) <= device.memory().available();
}

Plan plan_dynamic_ranks(const Device& device, const Graph& graph, const Options& options,
                        std::uint64_t update_bytes, const RankPlace& place) {
  const auto ranks = static_cast<std::uint64_t>(place.ranks != nullptr ? place.ranks->size() : 1);
  const std::uint64_t n = graph.vertices(), rows = (n + ranks - 1) / ranks,
                      m = (graph.edges() + ranks - 1) / ranks;
  Plan plan;
  const MadeBytes made = made_bytes(graph);
  const ExchangeBytes exchange = exchange_bytes(device, n, ranks);
  // Earlier ranks of all vertices and who dangles are there until ranks begin, before the graph changes.
  const std::uint64_t starting = n * (sizeof(double) + 1) + rows * sizeof(FixedRank);
  plan.host_bytes =
      std::max(made.making, made.kept + rows * kKnownRow + exchange.host + std::max(starting, update_bytes));
  if (device.is_cuda() && ranks == 1 && stays_whole(device, graph, options, place.paging)) {
    plan.state_bytes = n * (kDeviceRow + kDeviceVertex);
    plan.device_bytes = whole_bytes(graph, options);
    return plan;
  }
  plan.state_bytes = device.is_cuda()
                         ? n * kDeviceVertex + rows * (kDeviceRow + kPagedRow) + exchange.device + kFixedBytes
                         : n * kHostVertex + rows * kHostRow;
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  const HostArray<std::byte> known(plan.host_bytes, "sources of in-edges");
  const Buffer<std::byte> state(counting, plan.state_bytes, "ranks");
  SweepRows lists(CsrView{rows, m, graph.out.offsets.data(), nullptr, nullptr}, graph.edges_elsewhere.get());
  lists.longest = std::max<std::uint64_t>(longest_in_list(graph), 1);
  plan.device_bytes = plan.state_bytes + (device.is_cuda() ? m * edge_bytes(options) : 0);
  if (needs_sweep_pages(counting, lists, options.weighted, place.paging)) {
    const SweepPages pages(counting, lists, options.weighted, place.paging);
    plan.partitions = pages.size(), plan.brought_bytes = pages.planned().brought_bytes;
    plan.device_bytes = memory.needed();
  }
  if (!device.is_cuda())  // they lie there
    plan.host_bytes += plan.device_bytes + rows * kHostListsRow + n * kHostSentVertex;
  return plan;
}

}  // namespace sluice::pagerank

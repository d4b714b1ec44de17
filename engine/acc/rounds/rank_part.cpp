#include "engine/acc/rounds/rank_part.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/build.hpp"

namespace sluice::acc {

namespace {

/// Upper bound of a GPU's memory beside the lists of a whole graph: a state, worklists by degree for two
/// rounds, and threads' bins (resident_cuda/rounds.cuh).
constexpr std::uint64_t kWholeVertexBytes = 8 + 6 * sizeof(Vertex) + 1, kWholeBytes = 96u << 20;

/// Number of places where weights are sampled, and weights in each.
constexpr std::uint64_t kSampledBlocks = 64, kBlockWeights = 1024;

constexpr std::uint64_t kListsAtOnce = 1u << 12;

/// Bytes per vertex that ranks exchange: a state and a vertex, rounded up.
constexpr std::uint64_t kExchangedVertexBytes = 16;

constexpr const char* kAllLists = "the lists of all ranks";

Router router_of(Communicator& ranks, const Device& device, const AccNeeds& needs, DeviceRanks* link,
                 Ownership owners) {
  if (needs.on_hosts) return Router(ranks, std::move(owners));
  const std::uint64_t all = std::max<std::uint64_t>(owners.vertices(), 1) * kExchangedVertexBytes;
  return Router(ranks, device, link, std::min(all, Router::kPieceBytes), std::move(owners));
}

/// Calls use(neighbour) for the union of two ascending lists, each neighbour once, without v itself.
template <class Use>
void for_each_neighbor(Vertex v, std::span<const Vertex> a, std::span<const Vertex> b, Use&& use) {
  Vertex previous = v;
  bool any = false;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const Vertex next = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i++] : b[j++];
    if (next == v || (any && next == previous)) continue;
    use(next);
    previous = next;
    any = true;
  }
}

std::span<const Vertex> list_of(const CsrView& csr, std::uint64_t v) {
  if (csr.offsets == nullptr) return {};
  return {csr.targets + csr.offsets[v], csr.offsets[v + 1] - csr.offsets[v]};
}

/// Makes simple lists: the neighbours in out- and in-lists, each once, without self-loops. Row 0 is vertex
/// `first`; `in` may be empty. One pass over the lists counts neighbours, a second one writes them. A plan
/// reads no lists: it assumes all edges to be distinct.
Csr simple_lists(const CsrView& out, const CsrView& in, std::uint64_t first, unsigned threads) {
  const std::uint64_t n = out.vertices;
  const auto over_lists = [&](auto&& body) {
    parallel_blocks(threads, n, kListsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) body(v, list_of(out, v), list_of(in, v));
    });
  };
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(n + 1, "the undirected graph's offsets");
  if (host_budget().counts_only()) {
    csr.targets = HostArray<Vertex>(out.edges + in.edges, "the undirected graph's edges");
    return csr;
  }
  csr.offsets[0] = 0;
  over_lists([&](std::uint64_t v, auto a, auto b) {
    std::uint64_t count = 0;
    for_each_neighbor(static_cast<Vertex>(first + v), a, b, [&](Vertex) { ++count; });
    csr.offsets[v + 1] = count;
  });
  for (std::uint64_t v = 0; v < n; ++v) csr.offsets[v + 1] += csr.offsets[v];
  csr.targets = HostArray<Vertex>(csr.offsets[n], "the undirected graph's edges");
  over_lists([&](std::uint64_t v, auto a, auto b) {
    Vertex* next_target = csr.targets.data() + csr.offsets[v];
    for_each_neighbor(static_cast<Vertex>(first + v), a, b, [&](Vertex next) { *next_target++ = next; });
  });
  return csr;
}

/// The simple form of a directed graph on ranks or in partitions, or of a graph in its file, cannot be made.
/// Throws UsageError if the user asked for ranks or partitions, else BudgetError.
[[noreturn]] void throw_no_simple_form(const AccPlace& place) {
  const std::string graph = "an undirected graph without self-loops and parallel edges",
                    remedy = "`sluice convert --undirected` writes one from its edges";
  const bool on_ranks = place.ranks != nullptr && place.ranks->size() > 1;
  if (on_ranks || place.paging.partitions > 1 || place.paging.transport != Transport::automatic)
    throw UsageError("kcore in partitions or on ranks needs " + graph + " (" + remedy + ")");
  throw BudgetError("kcore of a graph that host memory does not hold needs " + graph +
                    " (raise --host-memory; " + remedy + ")");
}

/// Are the lists free of self-loops and duplicate neighbours? Row 0 is vertex `first`.
bool is_simple(const SweepRows& rows, std::uint64_t first, unsigned threads) {
  std::atomic<bool> simple{true};
  for_row_blocks(rows.csr, rows.file, true, false, threads, kListsAtOnce,
                 [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
                   for (std::uint64_t row = begin; row < end && simple.load(std::memory_order_relaxed);
                        ++row) {
                     const auto list = list_of(lists, row);
                     if (std::adjacent_find(list.begin(), list.end()) != list.end() ||
                         std::binary_search(list.begin(), list.end(), static_cast<Vertex>(first + row)))
                       simple = false;
                   }
                 });
  return simple;
}

/// Are lists of `bytes` bytes brought in partitions? They are if the user asked for it, if they are in a
/// file, or if they do not fit the device beside `other_bytes` other bytes. (On the host, the ceiling bounds
/// slots alone.)
bool is_paged(const Device& device, std::uint64_t bytes, std::uint64_t other_bytes, const EdgeSource* file,
              const PagingOptions& paging) {
  if (file != nullptr || paging.partitions > 1 || paging.transport != Transport::automatic) return true;
  if (paging.partitions == 1) return false;
  return device.is_cuda() ? bytes + other_bytes > device.memory().available()
                          : bytes > device.memory().ceiling();
}

/// Does a job use ranks or partitions, also because the graph does not fit the device whole?
bool is_partitioned(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place) {
  if (place.ranks != nullptr && place.ranks->size() > 1) return true;
  const EdgeSource* const file = graph.edge_source.get();
  if (needs.whole_bytes > 0) return is_paged(device, needs.whole_bytes, 0, file, place.paging);
  const std::uint64_t lists = edge_bytes(graph.edges(), needs.weights && graph.weighted);
  if (!device.is_cuda()) return is_paged(device, lists, 0, file, place.paging);
  // A whole graph also needs its in-edges, and worklists by degree.
  const bool in_edges = needs.in_edges && graph.directed && !graph.in.offsets.empty();
  const std::uint64_t copies = in_edges || (needs.simple && graph.directed) ? 2 : 1;
  const std::uint64_t other_bytes =
      graph.vertices() * (copies * sizeof(EdgeIndex) + kWholeVertexBytes) + kWholeBytes;
  return is_paged(device, copies * lists, other_bytes, file, place.paging);
}

}  // namespace

bool has_simple_lists(const Graph& graph, Communicator* ranks, unsigned threads) {
  const OwnedRows own(graph.out.offsets.span(), ranks);
  const SweepRows rows = SweepRows::of(graph.out.view(), graph.edge_source.get(), false, own.first, own.last);
  bool simple = true;  // also if memory for the check is lacking
  catch_budget_error([&] { simple = is_simple(rows, own.first, threads); });
  return !any_left(ranks, simple ? 0 : 1, kAllLists);
}

RankPart::RankPart(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place)
    : device_(device),
      single_(place.ranks == nullptr ? make_single_rank() : nullptr),
      made_link_(needs.on_hosts || place.link ? nullptr : connect_gpus(place.ranks, device)),
      link_(place.link ? place.link : made_link_.get()),
      router_(router_of(place.ranks == nullptr ? *single_ : *place.ranks, device, needs, link_,
                        OwnedRows(graph.out.offsets.span(), place.ranks).owners)),
      paging_(place.paging),
      scratch_(place.scratch),
      complete_(!is_partitioned(device, graph, needs, place)),
      symmetric_(!graph.directed),
      weighted_(needs.weights && graph.weighted) {
  const auto rows_of = [&](const Csr& csr, const EdgeSource* file) {
    return SweepRows::of(csr.view(), file, weighted_, first(), last());
  };
  rows_ = rows_of(graph.out, graph.edge_source.get());
  if (device.is_planning() ? needs.makes_simple : needs.simple) make_simple_form(graph, place);
  if (!needs.in_edges) return;
  if (symmetric_) in_rows_ = rows_;
  if (!symmetric_ && !graph.in.offsets.empty()) in_rows_ = rows_of(graph.in, graph.in_edge_source.get());
}

void RankPart::make_simple_form(const Graph& graph, const AccPlace& place) {
  const unsigned threads = device_.threads();
  const bool planned = device_.is_planning(), needs_transpose = graph.directed && graph.in.offsets.empty();
  // All ranks throw, or none.
  Communicator* const agreeing_ranks = rows_.file != nullptr ? &ranks() : nullptr;
  if (!graph.directed && !planned &&
      !any_left(agreeing_ranks, is_simple(rows_, first(), threads) ? 0 : 1, kAllLists))
    return;
  if (rows_.file != nullptr || (graph.directed && !complete_)) throw_no_simple_form(place);
  CsrView& lists = rows_.csr;
  const Csr transposed = needs_transpose ? transpose(graph.out, threads) : Csr();
  CsrView in;
  if (graph.directed) in = !needs_transpose ? graph.in.view() : planned ? lists : transposed.view();
  simple_ = simple_lists(lists, in, first(), threads);
  if (planned) {
    lists.edges = simple_.targets.size();
    rows_.max_degree = std::max<EdgeIndex>(longest_list({lists.offsets, lists.vertices + 1}, threads), 1);
    return;
  }
  rows_ = simple_.view();
  symmetric_ = true;
}

double RankPart::mean_weight() const {
  const CsrView& lists = rows_.csr;
  double sums[] = {0, 0};  // sum and number of weights
  if (weighted_ && lists.edges > 0) {
    const std::uint64_t block_size = std::min(kBlockWeights, lists.edges),
                        blocks = std::min(kSampledBlocks, lists.edges / block_size);
    std::vector<float> weights(block_size);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const EdgeIndex begin = lists.offsets[0] + lists.edges / blocks * i;
      if (rows_.file != nullptr) {
        rows_.file->read_weights(begin, weights);
      } else {
        std::copy_n(lists.weights + begin, block_size, weights.begin());
      }
      for (const float weight : weights) sums[0] += static_cast<double>(weight), ++sums[1];
    }
  }
  ranks().all_reduce(sums, Reduce::sum, "the weights of edges");
  double mean[] = {sums[1] > 0 ? sums[0] / sums[1] : 1};
  ranks().broadcast(std::as_writable_bytes(std::span(mean)), 0, "the weights of edges");
  return mean[0];
}

bool RankPart::has_pages(const SweepRows& lists) const {
  if (complete_) return false;
  const std::uint64_t bytes = edge_bytes(lists.csr.edges, weighted_);
  // A GPU reads lists from a file once, if it holds all of them.
  return bytes > 0 && is_paged(device_, bytes, 0, device_.is_cuda() ? nullptr : lists.file, paging_);
}

std::uint64_t RankPart::max_partitions() const {
  return std::max(paging_.partitions, kMaxPartitions);
}

std::unique_ptr<SweepPages> RankPart::make_pages(const SweepRows& lists, std::vector<PageLock>& locks,
                                                 std::uint64_t max_bytes, std::uint64_t used_bytes) const {
  if (!has_pages(lists)) return nullptr;
  const CsrView& csr = lists.csr;
  const bool worth_locking = paging_.transport == Transport::mapped ||
                             paging_.transport == Transport::automatic ||
                             csr.edges * sizeof(Vertex) >= kMinLockedBytes;
  if (worth_locking) locks = lock_lists(device_, lists);
  PagingOptions paging = paging_;
  if (paging.slots > 0 && used_bytes > 0) {
    const std::uint64_t slots = used_bytes * std::max<std::uint64_t>(paging.partitions, 1) /
                                    std::max<std::uint64_t>(edge_bytes(csr.edges, weighted_), 1) +
                                1;
    paging.slots -= std::min<std::uint64_t>(slots, paging.slots - 1);
  }
  return std::make_unique<SweepPages>(device_, lists, weighted_, paging, max_bytes);
}

}  // namespace sluice::acc

#include "engine/ppr/adjacency/peer_lists.hpp"

#include <algorithm>
#include <utility>

#include "engine/exchange/agreement.hpp"
#include "engine/memory/peer_partitions.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kLists = "lists of other ranks";

/// Edges of the largest part.
std::uint64_t max_part_edges(const EdgeIndex* offsets, const Ownership& owners) {
  std::uint64_t max_edges = 0;
  for (std::uint64_t r = 0; r < owners.size(); ++r)
    max_edges = std::max(max_edges, offsets[owners.end(r)] - offsets[owners.begin(r)]);
  return max_edges;
}

/// Words of a part: targets, then weights. One more word keeps the end of one rank's part apart from the
/// start of another's. No part is smaller than the least memory that another process can be given.
std::uint64_t words_of_part(std::uint64_t edges, const Options& options) {
  const std::uint64_t words = edge_bytes(edges, options.weighted) / sizeof(Vertex) + 1;
  return std::max<std::uint64_t>(words, PeerMemory::kMinBytes / sizeof(Vertex));
}

}  // namespace

std::unique_ptr<PeerLists> PeerLists::open(const Device& device, const Graph& graph, const Options& options,
                                           const PagingOptions& paging) {
  Communicator& ranks = *paging.shard;
  Ownership owners = OwnedRows(graph.out.offsets.span(), &ranks).owners;
  const std::uint64_t max_edges = max_part_edges(graph.out.offsets.data(), owners);
  const bool fits = may_read_peers(device, paging) &&
                    words_of_part(max_edges, options) * sizeof(Vertex) <= device.memory().available() / 2;
  if (any_left(&ranks, fits ? 0 : 1, kLists)) return nullptr;
  std::unique_ptr<PeerLists> lists;
  const auto make = [&] {
    lists.reset(new PeerLists(device, graph, options, ranks, std::move(owners), max_edges));
  };
  if (!all_have_memory(ranks, kLists, make)) return nullptr;
  lists->load_part(device, graph, options);
  return lists->connect(device, graph) ? std::move(lists) : nullptr;
}

PeerLists::PeerLists(const Device& device, const Graph& graph, const Options& options, Communicator& ranks,
                     Ownership owners, std::uint64_t max_edges)
    : router_(ranks, std::move(owners)),
      max_part_edges_(max_edges),
      part_(device, words_of_part(max_part_edges_, options), kLists),
      positions_(device, graph.vertices(), "positions of lists"),
      totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights") {}

void PeerLists::load_part(const Device& device, const Graph& graph, const Options& options) {
  const SweepRows rows = rows_of(graph, options, router_.first(), router_.last());
  const EdgeIndex* const offsets = rows.csr.offsets;
  HostArray<double> totals(options.weighted ? graph.vertices() : 0, "sums of weights");
  const auto copy_lists = [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets,
                              const float* weights) {
    const EdgeIndex first = offsets[begin], edges = offsets[end] - first;
    Vertex* const target = part_.data() + (first - offsets[0]);
    copy_to_device(device, target, targets + first, edges * sizeof *targets);
    if (!options.weighted) return;
    copy_to_device(device, target + max_part_edges_, weights + first, edges * sizeof *weights);
    const HostArray<double> sums =
        weight_totals({end - begin, edges, offsets + begin, targets, weights}, device.threads());
    std::ranges::copy(sums.span(), totals.data() + router_.first() + begin);
  };
  if (rows.csr.edges > 0) for_each_piece(rows.csr, rows.file, true, options.weighted, copy_lists);
  if (rows.file != nullptr) read_bytes_ = edge_bytes(rows.csr.edges, options.weighted);
  if (!options.weighted) return;
  router_.share(totals.data(), "sums of weights");
  copy_to_device(device, totals_.data(), totals.data(), totals_.bytes());
}

/// False on all ranks if one rank does not reach another. Places count from the part at the lowest address,
/// so that none is negative.
bool PeerLists::connect(const Device& device, const Graph& graph) {
  peers_ = PeerMemory::open(router_.ranks(), part_.data());
  if (!peers_) return false;
  const std::vector<std::byte*>& parts = peers_->by_rank();
  const std::byte* const lowest = *std::ranges::min_element(parts);
  targets_ = reinterpret_cast<const Vertex*>(lowest);
  if (!totals_.empty()) weights_ = reinterpret_cast<const float*>(targets_ + max_part_edges_);
  const EdgeIndex* const offsets = graph.out.offsets.data();
  const Ownership& owners = router_.owners();
  HostArray<EdgeIndex> positions(graph.vertices(), "positions of lists");
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const auto part_offset = static_cast<EdgeIndex>(parts[r] - lowest) / sizeof(Vertex);
    for (std::uint64_t v = owners.begin(r); v < owners.end(r); ++v)
      positions[v] = part_offset + (offsets[v] - offsets[owners.begin(r)]);
  }
  copy_to_device(device, positions_.data(), positions.data(), positions_.bytes());
  return true;
}

void PeerLists::finish() {
  if (!peers_) return;
  peers_.reset();
  router_.ranks().barrier(kLists);
}

}  // namespace sluice::ppr

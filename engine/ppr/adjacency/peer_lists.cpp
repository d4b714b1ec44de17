#include "engine/ppr/adjacency/peer_lists.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include "engine/exchange/agreement.hpp"
#include "engine/memory/peer_partitions.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/query_rules.hpp"
#include "partition/ranges.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kLists = "lists of other ranks";

/// Edges of the largest part.
std::uint64_t most_edges(const EdgeIndex* offsets, std::span<const std::uint64_t> begins) {
  std::uint64_t most = 0;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r)
    most = std::max(most, offsets[begins[r + 1]] - offsets[begins[r]]);
  return most;
}

/// Words of a part: targets, and weights behind them. One more keeps the part of one rank from ending where
/// that of another may begin; and no part is smaller than what another process can be given.
std::uint64_t words_of_part(std::uint64_t edges, const Options& options) {
  const std::uint64_t words = edges * list_edge_bytes(options) / sizeof(Vertex) + 1;
  return std::max<std::uint64_t>(words, PeerMemory::kLeastBytes / sizeof(Vertex));
}

}  // namespace

std::unique_ptr<PeerLists> PeerLists::open(const Device& device, const Graph& graph, const Options& options,
                                           const PagingOptions& paging) {
  Communicator& ranks = *paging.shard;
  const std::uint64_t n = graph.vertices(), size = static_cast<std::uint64_t>(ranks.size());
  bool fits = may_read_peers(device, paging);
  if (fits) {
    const auto begins = balanced_ranges(graph.out.offsets.data(), n, size);
    const std::uint64_t words = words_of_part(most_edges(graph.out.offsets.data(), begins), options);
    fits = words * sizeof(Vertex) <= device.memory().available() / 2;
  }
  if (any_left(&ranks, fits ? 0 : 1, kLists)) return nullptr;
  std::unique_ptr<PeerLists> lists;
  const auto lacks = lack_of_memory([&] { lists.reset(new PeerLists(device, graph, options, ranks)); });
  if (any_left(&ranks, lacks ? 1 : 0, kLists)) return nullptr;
  lists->bring(device, graph, options);
  return lists->connect(device, graph) ? std::move(lists) : nullptr;
}

PeerLists::PeerLists(const Device& device, const Graph& graph, const Options& options, Communicator& ranks)
    : ranks_(ranks),
      begins_(balanced_ranges(graph.out.offsets.data(), graph.vertices(),
                              static_cast<std::uint64_t>(ranks.size()))),
      most_(most_edges(graph.out.offsets.data(), begins_)),
      part_(device, words_of_part(most_, options), kLists),
      places_(device, graph.vertices(), "where lists are"),
      totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights") {}

PeerLists::~PeerLists() = default;

void PeerLists::bring(const Device& device, const Graph& graph, const Options& options) {
  const SweepRows rows = rows_of(graph, options, &ranks_);
  const EdgeIndex* const offsets = rows.in.offsets;
  HostArray<double> totals(options.weighted ? graph.vertices() : 0, "sums of weights");
  const std::uint64_t first_row = begins_[static_cast<std::size_t>(ranks_.rank())];
  const auto take = [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights) {
    const EdgeIndex first = offsets[begin], edges = offsets[end] - first;
    Vertex* const to = part_.data() + (first - offsets[0]);
    copy_to_device(device, to, targets + first, edges * sizeof *targets);
    if (!options.weighted) return;
    copy_to_device(device, to + most_, weights + first, edges * sizeof *weights);
    const HostArray<double> sums =
        weight_totals({end - begin, edges, offsets + begin, targets, weights}, device.threads());
    std::ranges::copy(sums.span(), totals.data() + first_row + begin);
  };
  if (rows.in.edges > 0) for_each_piece(rows.in, rows.file, true, options.weighted, take);
  if (rows.file != nullptr) read_bytes_ = rows.in.edges * list_edge_bytes(options);
  if (!options.weighted) return;
  for (std::size_t r = 0; r + 1 < begins_.size(); ++r) {
    const auto theirs = totals.span().subspan(begins_[r], begins_[r + 1] - begins_[r]);
    ranks_.broadcast(std::as_writable_bytes(theirs), static_cast<int>(r), "sums of weights");
  }
  copy_to_device(device, totals_.data(), totals.data(), totals_.bytes());
}

/// False, on all ranks, where one does not reach another. Places count from the part that lies lowest, so
/// that none is negative.
bool PeerLists::connect(const Device& device, const Graph& graph) {
  peers_ = PeerMemory::open(ranks_, part_.data());
  if (!peers_) return false;
  const std::vector<std::byte*>& parts = peers_->of_ranks();
  const std::byte* const lowest = *std::ranges::min_element(parts);
  targets_ = reinterpret_cast<const Vertex*>(lowest);
  if (!totals_.empty()) weights_ = reinterpret_cast<const float*>(targets_ + most_);
  const EdgeIndex* const offsets = graph.out.offsets.data();
  HostArray<EdgeIndex> places(graph.vertices(), "where lists are");
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const auto ahead = static_cast<EdgeIndex>(parts[r] - lowest) / sizeof(Vertex);
    for (std::uint64_t v = begins_[r]; v < begins_[r + 1]; ++v)
      places[v] = ahead + (offsets[v] - offsets[begins_[r]]);
  }
  copy_to_device(device, places_.data(), places.data(), places_.bytes());
  return true;
}

void PeerLists::finish() {
  if (!peers_) return;
  peers_.reset();
  ranks_.barrier(kLists);
}

}  // namespace sluice::ppr

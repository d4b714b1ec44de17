#include "engine/pagerank/static/sweep_pieces.hpp"

#include <algorithm>
#include <string>

#include "engine/core/error.hpp"

namespace sluice::pagerank {

namespace {

/// Edges that a GPU gathers along in the time in which it receives one contribution from another GPU: 130 G
/// edges a second, and 8 bytes at about 95 GB/s (H200s, both sweeping; transfers alone would be faster).
constexpr std::uint64_t kEdgesPerTransfer = 11;
constexpr std::uint64_t kMinRatio = 2, kMaxRatio = 16;

}  // namespace

SweepPieces sweep_pieces(unsigned requested, std::uint64_t vertices, std::uint64_t edges, int ranks) {
  if (ranks == 1) return {};
  if (requested > kMaxPieces)
    throw UsageError("pieces of a sweep: " + std::to_string(kMaxPieces) + " at most");
  const unsigned count = requested == 0 ? kDefaultPieces : requested;
  // A rank sweeps edges / ranks, and receives the contributions of all vertices but its own.
  const std::uint64_t transfer_edges = kEdgesPerTransfer * vertices * (static_cast<std::uint64_t>(ranks) - 1);
  return {count, std::clamp(edges / std::max<std::uint64_t>(transfer_edges, 1), kMinRatio, kMaxRatio)};
}

}  // namespace sluice::pagerank

#include "engine/memory/row_pieces.hpp"

#include <algorithm>

#include "engine/core/host_array.hpp"
#include "engine/graph/partition_map.hpp"
#include "partition/plan.hpp"

namespace sluice {

namespace {

/// Edges read from a file at a time.
constexpr std::uint64_t kPieceBytes = 16u << 20;

}  // namespace

void for_each_piece(const CsrView& rows, const EdgeSource* file, bool targets, bool weights,
                    const UseRows& use) {
  if (file == nullptr) return use(0, rows.vertices, rows.targets, rows.weights);
  const std::uint64_t edge = (targets ? sizeof(Vertex) : 0) + (weights ? sizeof(float) : 0);
  const std::uint64_t piece_bytes = std::min<std::uint64_t>(kPieceBytes, host_budget().available() / 8);
  const PartitionPlan pieces({rows.offsets, rows.vertices + 1}, {0, edge},
                             std::max<std::uint64_t>(piece_bytes, 1));
  const std::uint64_t most = pieces.largest() / edge;
  HostArray<Vertex> some_targets(targets ? most : 0, "reading edges");
  HostArray<float> some_weights(weights ? most : 0, "reading edges");
  for (std::uint64_t p = 0; p < pieces.size(); ++p) {
    const EdgeIndex first = rows.offsets[pieces.begin(p)], last = rows.offsets[pieces.end(p)];
    if (targets) file->read_targets(first, {some_targets.data(), last - first});
    if (weights) file->read_weights(first, {some_weights.data(), last - first});
    use(pieces.begin(p), pieces.end(p), moved(some_targets.data(), first), moved(some_weights.data(), first));
  }
}

}  // namespace sluice

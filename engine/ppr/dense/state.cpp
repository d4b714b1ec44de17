#include "engine/ppr/dense/state.hpp"

#include <algorithm>
#include <bit>

namespace sluice::ppr {

namespace {

/// Rows of all groups that run at once, 0.8 KB each; with a quarter of them pubmed (19,717 vertices) was
/// answered a sixth slower.
constexpr std::uint64_t kMaxActiveRows = 1u << 20;
constexpr std::uint64_t kMaxGroups = 128, kMinGroups = 4;

}  // namespace

DenseFit DenseFit::of(std::uint64_t vertices, std::uint64_t queries, std::uint64_t memory) {
  DenseFit fit{{vertices, kDenseWidth}, 0};
  const std::uint64_t requested_groups = (queries + kDenseWidth - 1) / kDenseWidth;
  const std::uint64_t wanted =
      std::min(requested_groups,
               std::clamp(kMaxActiveRows / std::max<std::uint64_t>(vertices, 1), kMinGroups, kMaxGroups));
  fit.groups = std::min(wanted, memory / fit.shape.bytes());
  if (requested_groups == 1) fit.shape.width = static_cast<std::uint32_t>(queries);
  if (fit.groups > 0) return fit;
  while (fit.shape.width > 0 && fit.shape.bytes() > memory) fit.shape.width /= 2;
  fit.groups = fit.shape.width > 0 ? 1 : 0;
  return fit;
}

DenseFit DenseFit::on_host(std::uint64_t vertices, std::uint64_t queries, std::uint64_t workers,
                           std::uint64_t extra_bytes, std::uint64_t memory) {
  const std::uint64_t per_worker = (queries + workers - 1) / std::max<std::uint64_t>(workers, 1);
  DenseFit fit{{vertices, kHostDenseWidth}, 0};
  fit.shape.width =
      static_cast<std::uint32_t>(std::bit_ceil(std::clamp<std::uint64_t>(per_worker, 1, kHostDenseWidth)));
  while (fit.shape.width > 1 && workers * (fit.shape.group_bytes() + extra_bytes) > memory)
    fit.shape.width /= 2;
  fit.groups = std::min(workers, memory / (fit.shape.group_bytes() + extra_bytes));
  return fit;
}

}  // namespace sluice::ppr

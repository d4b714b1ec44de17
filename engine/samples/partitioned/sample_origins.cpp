#include "engine/samples/partitioned/sample_origins.hpp"

#include <algorithm>

#include "engine/exchange/values_of_ranks.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::samples {

std::vector<OriginBatch> gather_batches(Communicator& ranks, const OriginBatch& own) {
  return values_of_ranks(&ranks, std::span(&own, 1), "the ranks' batches");
}

std::vector<std::uint64_t> sums_by_rank(const Device& device, const std::uint64_t* begins,
                                        std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> sums;
  std::uint64_t at = 0, before = 0;
  for (const std::uint64_t count : counts) {
    at += count;
    std::uint64_t up_to = 0;
    copy_to_host(device, &up_to, begins + at, sizeof up_to);
    sums.push_back(up_to - before);
    before = up_to;
  }
  return sums;
}

JoinedOrigins join_origins(std::span<const OriginBatch> batches, std::span<const std::uint64_t> entries) {
  constexpr Instance kMost = Instance{1} << 32;  // instances that an entry's 32 bits can number
  JoinedOrigins joined;
  std::uint64_t at = 0;
  for (std::size_t rank = 0; rank < batches.size();) {
    Instance first = batches[rank].first, end = first + batches[rank].count;
    const std::size_t from = rank;
    const std::uint64_t begin = at;
    for (; rank < batches.size(); ++rank) {
      const Instance least = std::min(first, batches[rank].first);
      const Instance most = std::max(end, batches[rank].first + batches[rank].count);
      if (rank > from && most - least > kMost) break;
      first = least, end = most;
      at += entries[rank];
    }
    for (std::size_t r = from; r < rank; ++r)
      joined.shifts.push_back(static_cast<std::uint32_t>(batches[r].first - first));
    joined.origins.push_back({first, begin, at});
  }
  return joined;
}

}  // namespace sluice::samples

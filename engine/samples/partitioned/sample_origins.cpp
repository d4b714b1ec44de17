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
  std::uint64_t end = 0, previous = 0;
  for (const std::uint64_t count : counts) {
    end += count;
    std::uint64_t sum = 0;
    copy_to_host(device, &sum, begins + end, sizeof sum);
    sums.push_back(sum - previous);
    previous = sum;
  }
  return sums;
}

JoinedOrigins join_origins(std::span<const OriginBatch> batches, std::span<const std::uint64_t> entries) {
  constexpr Instance kMaxInstances = Instance{1} << 32;  // instances that an entry's 32 bits can number
  JoinedOrigins joined;
  std::uint64_t entries_end = 0;
  for (std::size_t rank = 0; rank < batches.size();) {
    Instance first = batches[rank].first, end = first + batches[rank].count;
    const std::size_t group_begin = rank;
    const std::uint64_t begin = entries_end;
    for (; rank < batches.size(); ++rank) {
      const Instance lowest = std::min(first, batches[rank].first);
      const Instance highest = std::max(end, batches[rank].first + batches[rank].count);
      if (rank > group_begin && highest - lowest > kMaxInstances) break;
      first = lowest, end = highest;
      entries_end += entries[rank];
    }
    for (std::size_t r = group_begin; r < rank; ++r)
      joined.shifts.push_back(static_cast<std::uint32_t>(batches[r].first - first));
    joined.origins.push_back({first, begin, entries_end});
  }
  return joined;
}

}  // namespace sluice::samples

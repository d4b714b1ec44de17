#include "engine/memory/schedule/transport.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

TransportChoice::TransportChoice(const PartitionPlan& plan, const LinkRates& rates, double reads,
                                 std::uint64_t slot_bytes)
    : plan_(plan), rates_(rates), reads_(reads) {
  for (std::uint64_t p = 0; p < plan.size(); ++p) all_bytes_ += static_cast<double>(plan.bytes(p));
  all_bytes_ = std::max(all_bytes_, 1.0);
  absent_bytes_ = std::max(all_bytes_ - static_cast<double>(slot_bytes), 1.0);
}

std::vector<std::uint32_t> TransportChoice::mapped(std::span<const std::uint64_t> waiting,
                                                   std::uint64_t steps) const {
  const double items = static_cast<double>(std::reduce(waiting.begin(), waiting.end()));
  // A copy stays until all absent partitions have been brought in turn. Meanwhile each item visits one more
  // of their lists, but no more lists than it has steps left.
  const double revisits_per_byte =
      items * std::min(1 / absent_bytes_, static_cast<double>(steps) / all_bytes_);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t p = 0; p < plan_.size(); ++p) {
    const double bytes = static_cast<double>(plan_.bytes(p));
    const double visits = static_cast<double>(waiting[p]) + revisits_per_byte * bytes;
    if (visits * reads_ / rates_.mapped_reads < bytes / rates_.copied_bytes) chosen.push_back(p);
  }
  return chosen;
}

}  // namespace sluice

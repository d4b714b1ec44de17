#include "engine/schedule/transport.hpp"

#include <algorithm>

namespace sluice {

TransportChoice::TransportChoice(const PartitionPlan& plan, const LinkRates& rates, double reads)
    : plan_(plan), rates_(rates), reads_(reads) {
  for (std::uint64_t p = 0; p < plan.size(); ++p) all_bytes_ += static_cast<double>(plan.bytes(p));
}

std::vector<std::uint32_t> TransportChoice::mapped(std::span<const std::uint64_t> waiting,
                                                   std::uint64_t active) const {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t p = 0; p < plan_.size(); ++p) {
    const double bytes = static_cast<double>(plan_.bytes(p));
    const double visits =
        static_cast<double>(waiting[p]) + static_cast<double>(active) * bytes / std::max(all_bytes_, 1.0);
    if (visits * reads_ / rates_.mapped_reads < bytes / rates_.copied_bytes) chosen.push_back(p);
  }
  return chosen;
}

}  // namespace sluice

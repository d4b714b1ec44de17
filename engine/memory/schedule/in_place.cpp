#include "engine/memory/schedule/in_place.hpp"

namespace sluice {

std::vector<bool> InPlaceChoice::choose(std::span<const ListDemand> demand,
                                        FunctionRef<bool(std::uint32_t)> resident, std::uint64_t empty_slots,
                                        bool single_use) {
  const double max_share = single_use ? kMaxInPlaceShareOnce : kMaxInPlaceShare;
  std::vector<bool> chosen(demand.size());
  for (std::uint32_t p = 0; p < demand.size(); ++p) {
    if (demand[p].edges == 0) continue;
    const std::uint64_t reads = cost(demand[p]), copy = plan_.bytes(p);
    if (always_ || resident(p)) {
      chosen[p] = always_ || reads < kLaunchCost;
      continue;
    }
    chosen[p] = static_cast<double>(reads) < max_share * static_cast<double>(copy);
    if (chosen[p] && !single_use && empty_slots > 0 && read_cost_[p] + reads >= copy)
      chosen[p] = false, --empty_slots;
    read_cost_[p] = chosen[p] ? read_cost_[p] + reads : 0;
  }
  return chosen;
}

InPlaceFirst::InPlaceFirst(std::span<const std::uint64_t> ordered, const std::vector<bool>& in_place)
    : begins(in_place.size()) {
  std::uint64_t next = 0;
  const auto append = [&](bool selected) {
    for (std::size_t p = 0; p < in_place.size(); ++p) {
      if (in_place[p] != selected) continue;
      begins[p] = next;
      next += ordered[p + 1] - ordered[p];
    }
  };
  append(true);
  count = next;
  append(false);
}

std::vector<PartitionRun> runs_of(const std::vector<bool>& in_place) {
  std::vector<PartitionRun> runs;
  for (std::uint32_t p = 0; p < in_place.size(); ++p) {
    if (!in_place[p]) continue;
    if (runs.empty() || runs.back().end != p) runs.push_back({p, p});
    runs.back().end = p + 1;
  }
  return runs;
}

}  // namespace sluice

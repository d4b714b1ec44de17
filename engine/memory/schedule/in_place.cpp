#include "engine/memory/schedule/in_place.hpp"

namespace sluice {

std::vector<bool> InPlaceChoice::choose(std::span<const ListDemand> wanted,
                                        FunctionRef<bool(std::uint32_t)> resident, std::uint64_t empty,
                                        bool once) {
  const double most = once ? kMostInPlaceOnce : kMostInPlace;
  std::vector<bool> chosen(wanted.size());
  for (std::uint32_t p = 0; p < wanted.size(); ++p) {
    if (wanted[p].edges == 0) continue;
    const std::uint64_t reads = cost(wanted[p]), copy = plan_.bytes(p);
    if (always_ || resident(p)) {
      chosen[p] = always_ || reads < kLaunchCost;
      continue;
    }
    chosen[p] = static_cast<double>(reads) < most * static_cast<double>(copy);
    if (chosen[p] && !once && empty > 0 && spent_[p] + reads >= copy) chosen[p] = false, --empty;
    spent_[p] = chosen[p] ? spent_[p] + reads : 0;
  }
  return chosen;
}

InPlaceFirst::InPlaceFirst(std::span<const std::uint64_t> ordered, const std::vector<bool>& in_place)
    : begins(in_place.size()) {
  std::uint64_t next = 0;
  const auto place = [&](bool now) {
    for (std::size_t p = 0; p < in_place.size(); ++p) {
      if (in_place[p] != now) continue;
      begins[p] = next;
      next += ordered[p + 1] - ordered[p];
    }
  };
  place(true);
  count = next;
  place(false);
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

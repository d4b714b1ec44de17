#include "engine/samples/partitioned/sample_homes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace sluice {

std::vector<HomeWave> gather_waves(Communicator& ranks, const HomeWave& mine) {
  std::string text(sizeof mine, '\0');
  std::memcpy(text.data(), &mine, sizeof mine);
  std::vector<HomeWave> waves;
  for (const std::string& theirs : ranks.all_gather(text, "the ranks' waves")) {
    waves.emplace_back();
    std::memcpy(&waves.back(), theirs.data(), sizeof mine);
  }
  return waves;
}

JoinedHomes join_homes(std::span<const HomeWave> waves, std::span<const std::uint64_t> entries) {
  constexpr Instance kMost = Instance{1} << 32;  // that an entry can number
  JoinedHomes joined;
  std::uint64_t at = 0;
  for (std::size_t rank = 0; rank < waves.size();) {
    Instance first = waves[rank].first, end = first + waves[rank].count;
    const std::size_t from = rank;
    const std::uint64_t begin = at;
    for (; rank < waves.size(); ++rank) {
      const Instance least = std::min(first, waves[rank].first);
      const Instance most = std::max(end, waves[rank].first + waves[rank].count);
      if (rank > from && most - least > kMost) break;
      first = least, end = most;
      at += entries[rank];
    }
    for (std::size_t r = from; r < rank; ++r)
      joined.shifts.push_back(static_cast<std::uint32_t>(waves[r].first - first));
    joined.homes.push_back({first, begin, at});
  }
  return joined;
}

}  // namespace sluice

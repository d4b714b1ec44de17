#include "engine/exchange/placement.hpp"

#include <algorithm>
#include <sstream>

namespace sluice {
namespace {

/// The number of ranks on a rank's machine that agree with it: those before it, and all.
struct RankCount {
  std::size_t lower_ranks = 0, all = 0;
};

template <class Same>
RankCount count_ranks(const std::vector<RankView>& views, std::size_t rank, Same&& same) {
  RankCount count;
  for (std::size_t other = 0; other < views.size(); ++other) {
    if (views[other].node != views[rank].node || !same(other)) continue;
    count.lower_ranks += other < rank;
    ++count.all;
  }
  return count;
}

std::size_t gpu_of(const std::vector<RankView>& views, std::size_t rank) {
  const auto& gpus = views[rank].gpus;
  return count_ranks(views, rank, [&](std::size_t other) { return views[other].gpus == gpus; }).lower_ranks %
         gpus.size();
}

}  // namespace

Placement place_rank(const std::vector<RankView>& views, int rank_number) {
  const auto rank = static_cast<std::size_t>(rank_number);
  const RankView& own_view = views[rank];
  Placement placement;
  const RankCount cores =
      count_ranks(views, rank, [&](std::size_t other) { return views[other].cores == own_view.cores; });
  // The first ranks take the remainder.
  const std::size_t share =
      own_view.core_count / cores.all + (cores.lower_ranks < own_view.core_count % cores.all);
  placement.threads = static_cast<unsigned>(std::max<std::size_t>(share, 1));
  if (own_view.gpus.empty()) return placement;
  const std::size_t gpu = gpu_of(views, rank);
  const RankCount sharers = count_ranks(views, rank, [&](std::size_t other) {
    const auto& other_gpus = views[other].gpus;
    return !other_gpus.empty() && other_gpus[gpu_of(views, other)] == own_view.gpus[gpu];
  });
  placement.gpu = static_cast<int>(gpu);
  placement.gpu_ranks = static_cast<int>(sharers.all);
  return placement;
}

Placement place_rank(Communicator& ranks, const RankView& own_view) {
  std::ostringstream text;
  text << own_view.node << ' ' << own_view.cores << ' ' << own_view.core_count;
  for (const auto& gpu : own_view.gpus) text << ' ' << gpu;
  std::vector<RankView> views;
  for (const auto& line : ranks.all_gather(text.str(), "the cores and GPUs of all ranks")) {
    std::istringstream words(line);
    RankView& view = views.emplace_back();
    words >> view.node >> view.cores >> view.core_count;
    for (std::string gpu; words >> gpu;) view.gpus.push_back(gpu);
  }
  return place_rank(views, ranks.rank());
}

}  // namespace sluice

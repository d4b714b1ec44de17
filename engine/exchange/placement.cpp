#include "engine/exchange/placement.hpp"

#include <algorithm>
#include <sstream>

namespace sluice {
namespace {

/// The number of ranks on a rank's machine that agree with it: those before it, and all.
struct Company {
  std::size_t before = 0, all = 0;
};

template <class Same>
Company company_of(const std::vector<RankView>& views, std::size_t rank, Same&& same) {
  Company company;
  for (std::size_t other = 0; other < views.size(); ++other) {
    if (views[other].node != views[rank].node || !same(other)) continue;
    company.before += other < rank;
    ++company.all;
  }
  return company;
}

std::size_t gpu_of(const std::vector<RankView>& views, std::size_t rank) {
  const auto& gpus = views[rank].gpus;
  return company_of(views, rank, [&](std::size_t other) { return views[other].gpus == gpus; }).before %
         gpus.size();
}

}  // namespace

Placement place_rank(const std::vector<RankView>& views, int rank_number) {
  const auto rank = static_cast<std::size_t>(rank_number);
  const RankView& own = views[rank];
  Placement placement;
  const Company cores =
      company_of(views, rank, [&](std::size_t other) { return views[other].cores == own.cores; });
  // The first ranks take the remainder.
  const std::size_t share = own.core_count / cores.all + (cores.before < own.core_count % cores.all);
  placement.threads = static_cast<unsigned>(std::max<std::size_t>(share, 1));
  if (own.gpus.empty()) return placement;
  const std::size_t gpu = gpu_of(views, rank);
  const Company sharers = company_of(views, rank, [&](std::size_t other) {
    const auto& theirs = views[other].gpus;
    return !theirs.empty() && theirs[gpu_of(views, other)] == own.gpus[gpu];
  });
  placement.gpu = static_cast<int>(gpu);
  placement.gpu_ranks = static_cast<int>(sharers.all);
  return placement;
}

Placement place_rank(Communicator& ranks, const RankView& own) {
  std::ostringstream text;
  text << own.node << ' ' << own.cores << ' ' << own.core_count;
  for (const auto& gpu : own.gpus) text << ' ' << gpu;
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

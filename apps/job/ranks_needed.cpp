// --plan of a job whose ranks share out the graph, run by one process: how many ranks it takes. It makes the
// plans of the missing ranks one after the other, as if each ran on a machine like this one.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "partition/ranges.hpp"

namespace sluice::apps {

namespace {

constexpr int kMostRanks = 4096;
/// Up to this number all ranks are planned, above it only those that may need most.
constexpr int kAllPlanned = 16;

/// The ranks among `ranks` that may need most: the partition is even by cost, not by vertices or edges.
std::set<int> planned_ranks(const Csr& lists, int ranks) {
  std::set<int> planned{0, ranks - 1};
  const Ownership owners = balanced_ranges(lists.offsets.span(), static_cast<std::uint64_t>(ranks));
  const auto add_most = [&](const auto& of_rank) {
    std::pair<std::uint64_t, std::uint64_t> most{0, 0};
    for (std::uint64_t rank = 0; rank < owners.size(); ++rank) most = std::max(most, {of_rank(rank), rank});
    planned.insert(static_cast<int>(most.second));
  };
  add_most([&](std::uint64_t rank) { return owners.count(rank); });
  add_most([&](std::uint64_t rank) {
    return lists.offsets[owners.end(rank)] - lists.offsets[owners.begin(rank)];
  });
  for (int rank = 0; ranks <= kAllPlanned && rank < ranks; ++rank) planned.insert(rank);
  return planned;
}

/// The lowest number of ranks, at least `from`, with suffices(ranks); 0 if none up to kMostRanks has it.
template <class Suffices>
int least_ranks(int from, const Suffices& suffices) {
  int low = from - 1, high = from;  // low is not enough
  for (; high <= kMostRanks && !suffices(high); high *= 2) low = high;
  if (high > kMostRanks) return 0;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return high;
}

std::string ranks_line(const char* what, int ranks, const std::string& why) {
  return fmt::format("{:<22} {:>12}{}\n", what, ranks > 0 ? std::to_string(ranks) : "none",
                     why.empty() ? "" : " (" + why + ")");
}

}  // namespace

bool Job::counts_ranks() const {
  const bool in_memory =
      options_.paging.transport == Transport::copied || options_.paging.transport == Transport::mapped;
  return options_.plan && options_.distribution == Distribution::shard && world().size() == 1 && !in_memory;
}

void Job::count_ranks(std::optional<JobNeed> known, const FindNeed& need) {
  const std::vector<GraphPlace> before = places_;
  const std::size_t place = std::exchange(place_, 0);
  places_ = {{true, before[place].in_edges}};
  outline();
  const Csr& lists = graph_.in.offsets.empty() ? graph_.out : graph_.in;
  const auto fit = [this](const JobNeed& needed) { return fits(needed); };
  const auto hold = [this](JobNeed needed) {
    // A slot holds the largest partition; on the host, slots take at most half of the remaining memory.
    const std::uint64_t slots = *needed.brought_again + *needed.brought_again / 4;
    needed.device_bytes += slots;
    if (!device_->is_cuda()) needed.host_bytes += 2 * slots;
    return fits(needed);
  };
  // The lowest number of ranks, at least `from`, each of which has enough.
  const auto least = [&](int from, const auto& enough) {
    if (from == 1 && known && enough(*known)) return 1;
    return least_ranks(std::max(from, 2), [&](int ranks) {
      return std::ranges::all_of(planned_ranks(lists, ranks), [&](int rank) {
        const PlannedWorld stands_in(rank, ranks);
        if (take_share_) take_share_();
        try {
          known = need(paging());
          return enough(*known);
        } catch (const BudgetError&) {  // no plan
          return false;
        }
      });
    });
  };
  try {
    const int fitting = least(1, fit);
    ranks_lines_ = ranks_line("ranks, at least", fitting,
                              fitting > 0 ? "" : "each needs more than it may take, however many they are");
    if (fitting > 0 && known->brought_again)
      ranks_lines_ += ranks_line("  that hold all lists", least(fitting, hold), "about");
  } catch (const UsageError& error) {
    ranks_lines_ = ranks_line("ranks, at most", 1, error.what());
  }
  places_ = before, place_ = place;
  outline();
}

}  // namespace sluice::apps

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

constexpr int kMaxRanks = 4096;
/// Up to this number all ranks are planned, above it only those that may need most.
constexpr int kMaxFullyPlanned = 16;

/// The ranks among `ranks` that may need most: the partition is even by cost, not by vertices or edges.
std::set<int> ranks_to_plan(const Csr& lists, int ranks) {
  std::set<int> planned{0, ranks - 1};
  const Ownership owners = balanced_ranges(lists.offsets.span(), static_cast<std::uint64_t>(ranks));
  const auto add_largest = [&](const auto& of_rank) {
    std::pair<std::uint64_t, std::uint64_t> largest{0, 0};
    for (std::uint64_t rank = 0; rank < owners.size(); ++rank)
      largest = std::max(largest, {of_rank(rank), rank});
    planned.insert(static_cast<int>(largest.second));
  };
  add_largest([&](std::uint64_t rank) { return owners.count(rank); });
  add_largest([&](std::uint64_t rank) {
    return lists.offsets[owners.end(rank)] - lists.offsets[owners.begin(rank)];
  });
  for (int rank = 0; ranks <= kMaxFullyPlanned && rank < ranks; ++rank) planned.insert(rank);
  return planned;
}

/// The lowest number of ranks, at least `min_ranks`, with suffices(ranks); 0 if none up to kMaxRanks has it.
template <class Suffices>
int find_min_ranks(int min_ranks, const Suffices& suffices) {
  int low = min_ranks - 1, high = min_ranks;  // low is not enough
  for (; high <= kMaxRanks && !suffices(high); high *= 2) low = high;
  if (high > kMaxRanks) return 0;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return high;
}

std::string ranks_line(const char* label, int ranks, const std::string& note) {
  return fmt::format("{:<22} {:>12}{}\n", label, ranks > 0 ? std::to_string(ranks) : "none",
                     note.empty() ? "" : " (" + note + ")");
}

}  // namespace

bool Job::counts_required_ranks() const {
  const bool in_memory =
      options_.paging.transport == Transport::copied || options_.paging.transport == Transport::mapped;
  return options_.plan && options_.distribution == Distribution::shard && world().size() == 1 && !in_memory;
}

void Job::count_required_ranks(std::optional<JobNeed> known, const FindNeed& need) {
  const std::vector<GraphStorage> saved_storages = storages_;
  const std::size_t saved_storage = std::exchange(storage_, 0);
  storages_ = {{true, saved_storages[saved_storage].in_edges}};
  set_charged_outline();
  const Csr& lists = graph_.in.offsets.empty() ? graph_.out : graph_.in;
  const auto fits_graph = [this](const JobNeed& needed) { return fits(needed); };
  const auto fits_lists = [this](JobNeed needed) {
    // A slot holds the largest partition; on the host, slots take at most half of the remaining memory.
    const std::uint64_t slots = *needed.reloaded_bytes + *needed.reloaded_bytes / 4;
    needed.device_bytes += slots;
    if (!device_->is_cuda()) needed.host_bytes += 2 * slots;
    return fits(needed);
  };
  // The lowest number of ranks, at least `min_ranks`, each of which has enough.
  const auto find_ranks = [&](int min_ranks, const auto& enough) {
    if (min_ranks == 1 && known && enough(*known)) return 1;
    return find_min_ranks(std::max(min_ranks, 2), [&](int ranks) {
      return std::ranges::all_of(ranks_to_plan(lists, ranks), [&](int rank) {
        const PlannedWorld planned_world(rank, ranks);
        if (set_instances_) set_instances_();
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
    const int found = find_ranks(1, fits_graph);
    ranks_lines_ = ranks_line("ranks, at least", found,
                              found > 0 ? "" : "each needs more than its budget, for any number of ranks");
    if (found > 0 && known->reloaded_bytes)
      ranks_lines_ += ranks_line("  that hold all lists", find_ranks(found, fits_lists), "about");
  } catch (const UsageError& error) {
    ranks_lines_ = ranks_line("ranks, at most", 1, error.what());
  }
  storages_ = saved_storages, storage_ = saved_storage;
  set_charged_outline();
}

}  // namespace sluice::apps

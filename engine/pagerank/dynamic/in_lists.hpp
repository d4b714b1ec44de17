// The in-edges of affected vertices: whole in memory, or brought in partitions. A vertex that is not affected
// reads no list, so a partition without affected vertices stays where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/backend.hpp"

namespace sluice::pagerank {

/// Partitions of the in-edges of a range of vertices.
class InLists {
 public:
  /// Of the vertices [first, last). Slots take what the device has left; a GPU has them in any case. Keeps
  /// references. Throws BudgetError where two partitions do not fit.
  InLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last,
          const PagingOptions& paging);

  /// Whether lists are there only while they are gathered.
  bool come_and_go() const { return pages_ != nullptr; }
  /// What was brought; of the partitions those count that were wanted in some iteration.
  SweepTraffic traffic() const { return pages_ ? pages_->traffic() : SweepTraffic{}; }
  std::uint64_t partitions_read() const {
    return pages_ ? static_cast<std::uint64_t>(std::count(ever_.begin(), ever_.end(), 1)) : 1;
  }

 protected:
  SweepPages& pages() const { return *pages_; }

  /// Calls work(page) for every partition of which edges are to be read, and done() before partitions leave.
  template <class Edges, class Work, class Done>
  void for_each(const Edges* edges, Work&& work, Done&& done) {
    pages_->for_each([&](std::uint32_t p) { return std::uint64_t{edges[p]}; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) {
                         ever_[page.partition] = 1;
                         work(page);
                       }
                       done();
                     });
  }

 private:
  std::vector<PageLock> locks_;  // before what reads them
  std::unique_ptr<SweepPages> pages_;
  std::vector<std::uint8_t> ever_;  ///< [partitions] 1 where it was wanted
};

}  // namespace sluice::pagerank

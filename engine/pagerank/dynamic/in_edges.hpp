// The in-edges of affected vertices: whole in memory, or brought in partitions. A vertex that is not affected
// reads no list, so a partition without affected vertices stays where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/threads.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/affected.hpp"
#include "engine/pagerank/dynamic/backend.hpp"

namespace sluice::pagerank {

class InLists {
 public:
  /// Of the vertices [first, last). Slots for partitions take what the device has left. Keeps references.
  /// Throws BudgetError where two partitions do not fit.
  InLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last,
          const PagingOptions& paging)
      : in_(in_edges_of(graph, weighted)), threads_(device.threads()) {
    if (first == last) return;
    const SweepRows rows = in_rows_of(graph, weighted, first, last);
    if (rows.in.edges == 0 || !needs_sweep_pages(device, rows, weighted, paging)) return;
    pages_ = std::make_unique<SweepPages>(device, rows, weighted, paging);
    ever_.resize(pages_->size());
  }

  /// All lists where they are in memory, else no more than their lengths.
  const CsrView& lengths() const { return in_; }

  /// Calls work(in, begin, end) for pieces of the list of members, until all were worked on: `in` then has
  /// the lists of those members [begin, end) for which reads(v) is not 0. It is how many edges will be read.
  /// The order of the list may change before the first call.
  template <class Reads, class Work>
  void for_each(AffectedSet& affected, Reads&& reads, Work&& work) {
    if (!pages_) return work(in_, 0, affected.size());
    const std::vector<std::uint64_t> begins = affected.group(pages_->plan());
    const std::span<const Vertex> members = affected.list();
    std::vector<std::uint64_t> waiting(pages_->size());
    parallel_blocks(threads_, waiting.size(), 1, [&](std::uint64_t p, std::uint64_t, unsigned) {
      for (std::uint64_t i = begins[p]; i < begins[p + 1]; ++i) waiting[p] += reads(members[i]);
    });
    CsrView lists = in_;
    lists.targets = nullptr, lists.weights = nullptr;
    for (std::size_t p = 0; p < waiting.size(); ++p) {
      if (waiting[p] == 0 && begins[p] < begins[p + 1]) work(lists, begins[p], begins[p + 1]);
    }
    pages_->for_each([&](std::uint32_t p) { return waiting[p]; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) {
                         lists.targets = page.sources, lists.weights = page.weights;
                         ever_[page.partition] = 1;
                         work(lists, begins[page.partition], begins[page.partition + 1]);
                       }
                     });
  }

  /// What was brought; of the partitions those count that were wanted in some iteration.
  SweepTraffic traffic() const { return pages_ ? pages_->traffic() : SweepTraffic{}; }
  std::uint64_t partitions_read() const {
    return pages_ ? static_cast<std::uint64_t>(std::count(ever_.begin(), ever_.end(), 1)) : 1;
  }

 private:
  CsrView in_;
  unsigned threads_;
  std::unique_ptr<SweepPages> pages_;
  std::vector<std::uint8_t> ever_;  ///< [partitions] 1 where it was wanted
};

}  // namespace sluice::pagerank

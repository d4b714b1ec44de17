// The lists of a rank's own vertices in one direction as a device reaches them: where they begin, where their
// edges are, and, where these come in partitions, how the next ones are chosen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/acc/partitioned/place.hpp"
#include "engine/acc/partitioned/round_output.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

class ListedLists {
 public:
  /// All else that the device is to hold must be there already, but for `listed` vertices that are put in
  /// order of partitions. These take what memory there is, divided by `shares`. Keeps references.
  ListedLists(const Device& device, const OwnedRows& rows, const SweepRows& lists, std::uint64_t listed,
              std::uint64_t shares = 1)
      : device_(device), offsets_(device, lists.in.vertices + 1, "the graph's offsets") {
    copy_to_device(device, offsets_.data(), lists.in.offsets, offsets_.bytes());
    {
      const bool paged = rows.has_pages(lists);
      if (paged) sorted_ = Buffer<Vertex>(device, listed, "worklists");
      // Slots take what is left: keep room for what is known once they are there.
      const Buffer<std::uint64_t> kept(device, paged ? 4 * rows.most_partitions() + 1 : 0, "partitions");
      place_.emplace(device, rows, lists, memory_for_sweep_pages(device) / shares);
    }
    if (place_->pages() == nullptr) return;
    const std::vector<std::uint64_t> begins = place_->boundaries();
    parts_ = static_cast<unsigned>(begins.size() - 1);
    begins_ = Buffer<std::uint64_t>(device, begins.size(), "partitions");
    copy_to_device(device, begins_.data(), begins.data(), begins_.bytes());
    waiting_ = Buffer<unsigned long long>(device, 2 * std::uint64_t{parts_}, "partitions");
    places_ = Buffer<unsigned long long>(device, parts_, "partitions");
  }

  const EdgeIndex* offsets() const { return offsets_.data(); }
  const ListedPlace& place() const { return *place_; }
  bool paged() const { return parts_ > 0; }

  /// Calls from(vertices, count, page) for the vertices of a worklist, wherever their lists are.
  template <class Team, class From>
  void over_listed(Team& team, const Found& notes, const Vertex* vertices, std::uint64_t count,
                   std::uint64_t first, From&& from) {
    if (count == 0) return;
    if (!paged()) return from(vertices, count, place_->whole());
    const ListedVertices front{vertices, 0, count, first, offsets_.data()};
    std::vector<std::uint64_t> waiting(waiting_.size());
    team.fill(waiting_.data(), 0, waiting_.bytes());
    team.each(count, notes, CountInPartitions{front, begins_.data(), parts_, waiting_.data()});
    team.read(waiting.data(), waiting_.data(), waiting.size(), "counting by partition");
    std::vector<std::uint64_t> begins(parts_ + 1);
    for (unsigned p = 0; p < parts_; ++p) begins[p + 1] = begins[p] + waiting[p];
    copy_to_device(device_, places_.data(), begins.data(), places_.bytes());
    team.each(count, notes, SortByPartition{front, begins_.data(), parts_, places_.data(), sorted_.data()});
    place_->pages()->for_each([&](std::uint32_t p) { return waiting[parts_ + p]; },
                              [&](std::span<const SweepPage> pages) {
                                for (const SweepPage& page : pages)
                                  from(sorted_.data() + begins[page.partition], waiting[page.partition],
                                       page);
                                team.wait("partitions of lists");
                              });
  }

  /// Calls from(page) for all rows, or the partitions in which count(begins, partitions, counts) finds some
  /// that are wanted; `counts` are 0 before.
  template <class Team, class Count, class From>
  void over_wanted(Team& team, Count&& count, From&& from) {
    if (!paged()) return from(place_->whole());
    std::vector<std::uint64_t> waiting(parts_);
    team.fill(waiting_.data(), 0, waiting_.bytes());
    count(begins_.data(), parts_, waiting_.data());
    team.read(waiting.data(), waiting_.data(), waiting.size(), "counting by partition");
    place_->pages()->for_each([&](std::uint32_t p) { return waiting[p]; },
                              [&](std::span<const SweepPage> pages) {
                                for (const SweepPage& page : pages) from(page);
                                team.wait("partitions of lists");
                              });
  }

 private:
  const Device& device_;
  Buffer<EdgeIndex> offsets_;
  Buffer<Vertex> sorted_;  ///< a worklist by partition
  std::optional<ListedPlace> place_;
  unsigned parts_ = 0;                           ///< 0: everything is there
  Buffer<std::uint64_t> begins_;                 ///< [parts + 1] rows
  Buffer<unsigned long long> waiting_, places_;  ///< [2 * parts], [parts]
};

}  // namespace sluice::acc

// The lists of a rank's own vertices in one direction as an executor traverses them: where they begin, where
// their edges are, and, where these come in partitions, how the next ones are chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/edge_lists.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// The vertices of a worklist, by the partition that has their lists.
struct ByPartition {
  VertexRange vertices;
  OwnershipView partitions;  ///< of rows

  SLUICE_HD std::uint64_t row(std::uint64_t i) const { return vertices[i] - vertices.first; }
  SLUICE_HD unsigned key(std::uint64_t i) const { return partitions.owner(row(i)); }
  SLUICE_HD Vertex item(std::uint64_t i) const { return vertices[i]; }
  SLUICE_HD std::uint64_t weight(std::uint64_t i) const {
    return vertices.offsets[row(i) + 1] - vertices.offsets[row(i)];
  }
};

class Adjacency {
 public:
  /// All else that the device is to hold must be there already, but for worklists of `active` vertices in
  /// order of partitions. Lists take what memory there is, divided by `shares`. Keeps references.
  Adjacency(const Device& device, const RankPart& rows, const SweepRows& lists, std::uint64_t active,
            std::uint64_t shares = 1)
      : device_(device),
        first_(rows.first()),
        offsets_(lists.in.offsets),
        uploaded_offsets_(device, device.is_cuda() ? lists.in.vertices + 1 : 0, "the graph's offsets") {
    if (device.is_cuda()) {
      copy_to_device(device, uploaded_offsets_.data(), offsets_, uploaded_offsets_.bytes());
      offsets_ = uploaded_offsets_.data();
    }
    {
      const bool paged = rows.has_pages(lists);
      if (paged) sorted_ = Buffer<Vertex>(device, active, "worklists");
      // Slots take what a GPU has left: keep memory for what is known once they are there.
      const bool keeps = paged && device.is_cuda();
      const Buffer<std::uint64_t> kept(device, keeps ? 3 * rows.most_partitions() : 0, "partitions");
      lists_.emplace(device, rows, lists, memory_for_sweep_pages(device) / shares);
    }
    if (!paged()) return;
    const std::uint64_t partitions = lists_->pages()->size();
    partitions_ = lists_->pages()->owners();
    counters_ = Buffer<unsigned long long>(device, 3 * partitions, "partitions");
    keys_ = {{}, std::vector<std::uint64_t>(partitions), counters_.data()};
  }

  const EdgeIndex* offsets() const { return offsets_; }
  const EdgeLists& lists() const { return *lists_; }
  bool paged() const { return lists_->pages() != nullptr; }
  std::uint64_t partitions() const { return keys_.size(); }

  /// Calls use(vertices, page) for a worklist, in parts whose lists are there.
  template <Executor E, class Use>
  void visit_vertices(E& executor, const Vertex* vertices, std::uint64_t count, Use&& use) {
    if (count == 0) return;
    const VertexRange all{vertices, 0, count, first_, offsets_};
    if (!paged()) return use(all, lists_->whole());
    sorted_.reserve(device_, count, "worklists");  // bins may hold a vertex twice
    executor.sort_by_key(ByPartition{all, partitions_}, count, sorted_.data(), keys_);
    visit(executor, keys_.weights, [&](const SweepPage& page) {
      const std::uint64_t begin = keys_.begins[page.partition], end = keys_.begins[page.partition + 1];
      use(VertexRange{sorted_.data() + begin, 0, end - begin, first_, offsets_}, page);
    });
  }

  /// How much waits in each partition: `body` makes, of the partitions of rows and counters that are 0, a
  /// body for `count` items, which adds to those.
  template <Executor E, class MakeBody>
  const std::vector<std::uint64_t>& count(E& executor, std::uint64_t count, MakeBody&& body) {
    executor.fill(counters_.data(), 0, counters_.bytes());
    executor.for_each(count, {}, body(partitions_, counters_.data()));
    executor.read(keys_.weights.data(), counters_.data(), keys_.size(), "counting by partition");
    return keys_.weights;
  }

  /// Calls use(page) for the partitions in which something waits.
  template <Executor E, class Use>
  void visit(E& executor, const std::vector<std::uint64_t>& waiting, Use&& use) {
    lists_->pages()->for_each([&](std::uint32_t p) { return waiting[p]; },
                              [&](std::span<const SweepPage> pages) {
                                for (const SweepPage& page : pages) use(page);
                                executor.wait("partitions of lists");
                              });
  }

 private:
  const Device& device_;
  std::uint64_t first_;
  const EdgeIndex* offsets_;
  Buffer<EdgeIndex> uploaded_offsets_;
  Buffer<Vertex> sorted_;  ///< a worklist by partition
  std::optional<EdgeLists> lists_;
  OwnershipView partitions_;  ///< of rows
  Buffer<unsigned long long> counters_;
  KeyCounts keys_;
};

}  // namespace sluice::acc

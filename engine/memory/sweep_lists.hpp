// Lists of rows, wherever they are stored: read once, piece by piece, or kept for repeated sweeps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// Receives the edges of rows [begin, end). Columns are indexed by position in the whole graph, as in
/// offsets. A column that was not requested may be missing.
using UseRows =
    std::function<void(std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights)>;

/// Passes all rows at once if their edges are in memory (`file` is null), otherwise pieces as they are read
/// from the file.
void for_each_piece(const CsrView& rows, const EdgeSource* file, bool targets, bool weights,
                    const UseRows& use);

/// Calls use(lists, begin, end) for all rows, `rows_per_block` at a time on each of `threads`. `lists` has
/// all offsets, and the columns of rows [begin, end).
template <class Use>
void for_row_blocks(const CsrView& rows, const EdgeSource* file, bool targets, bool weights, unsigned threads,
                    std::uint64_t rows_per_block, Use&& use) {
  for_each_piece(
      rows, file, targets, weights,
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* piece_targets, const float* piece_weights) {
        CsrView lists = rows;
        lists.targets = piece_targets, lists.weights = weights ? piece_weights : nullptr;
        parallel_blocks(threads, end - begin, rows_per_block,
                        [&](std::uint64_t first, std::uint64_t last, unsigned) {
                          use(lists, begin + first, begin + last);
                        });
      });
}

/// Copies lists in host memory to `targets` and `weights` (null: no weights) in device memory. Lists that
/// `pending_edges` still has to read are copied as they are read; null: there are none.
void copy_lists_to_device(const Device& device, const CsrView& lists, PendingEdges* pending_edges,
                          Vertex* targets, float* weights);

/// Page-locks the lists of rows if they are in host memory.
std::vector<PageLock> lock_lists(const Device& device, const SweepRows& rows);

/// Codes lists that a GPU brings whole, again and again, in partitions; their entries are below `targets`.
/// Returns nullopt if they have weights, are not in host memory, gain nothing, or need half of the free host
/// memory; and if the run is only planned.
std::optional<CodedGraph> make_coded_lists(const Device& device, const SweepRows& rows,
                                           std::uint64_t targets);

/// Lists for sweeps: copied once to a GPU, read by the host's threads in host memory, or brought in
/// partitions.
class SweepLists {
 public:
  /// Lists that are read in place.
  explicit SweepLists(const CsrView& lists) : rows_(lists) {}
  /// `pages` brings partitions, from lists that `locks` keeps page-locked; null: the device holds all lists.
  /// Keeps references. `pending_edges` reads the lists of a whole graph that the device will hold. Throws
  /// BudgetError naming the purpose.
  SweepLists(const Device& device, const SweepRows& rows, bool weighted, const char* purpose,
             std::unique_ptr<SweepPages> pages, std::vector<PageLock> locks = {},
             PendingEdges* pending_edges = nullptr);

  /// Null if all lists are present.
  SweepPages* pages() const { return pages_.get(); }
  /// All rows, if all lists are present.
  SweepPage whole() const;
  /// Passes all rows to `work`, a few partitions at a time.
  void for_each(const SweepPages::Work& work) const;

  Traffic traffic() const;
  /// For a run that is only planned: the least device bytes of the lists.
  std::uint64_t planned_bytes() const;

 private:
  void upload(const Device& device, PendingEdges* pending_edges);

  SweepRows rows_;
  bool uploads_ = false;  ///< false: lists are read in place
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
};

}  // namespace sluice

// The lists of rows wherever they are: gone through once, piece by piece, or kept for sweeps over them.
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

/// Edges of rows [begin, end). Columns are indexed by positions in the whole graph, as offsets say; one that
/// was not asked for need not be there.
using UseRows =
    std::function<void(std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights)>;

/// Hands over all rows at once where their edges are in memory (`file` null), else piece by piece, as they
/// are read from the file.
void for_each_piece(const CsrView& rows, const EdgeSource* file, bool targets, bool weights,
                    const UseRows& use);

/// Calls use(lists, begin, end) for all rows, `at_once` at a time on each of `threads`: `lists` are all, with
/// the columns of rows [begin, end).
template <class Use>
void for_row_blocks(const CsrView& rows, const EdgeSource* file, bool targets, bool weights, unsigned threads,
                    std::uint64_t at_once, Use&& use) {
  for_each_piece(
      rows, file, targets, weights,
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* there, const float* weights_there) {
        CsrView lists = rows;
        lists.targets = there, lists.weights = weights ? weights_there : nullptr;
        parallel_blocks(threads, end - begin, at_once, [&](std::uint64_t from, std::uint64_t to, unsigned) {
          use(lists, begin + from, begin + to);
        });
      });
}

/// Copies lists that are in host memory to `targets` and `weights` (null: not those) of the device's: those
/// that are still to come, as they do (null: none are).
void bring_lists(const Device& device, const CsrView& lists, EdgesToCome* to_come, Vertex* targets,
                 float* weights);

/// Page-locks the lists of rows, where they are in host memory.
std::vector<PageLock> lock_lists(const Device& device, const SweepRows& rows);

/// Lists without weights in host memory that a GPU brings whole, again and again, in partitions: coded, if it
/// takes fewer bytes, and half of the host's memory; not in a plan. What is in them is below `targets`.
std::optional<CodedGraph> code_lists(const Device& device, const SweepRows& rows, std::uint64_t targets);

/// Lists in the memory of a GPU, which takes them there once, in host memory that the host's threads read, or
/// in partitions that are brought.
class SweepLists {
 public:
  /// Lists that are where they are read.
  explicit SweepLists(const CsrView& lists) : rows_(lists) {}
  /// Partitions are brought by `pages`, and `locks` live as long; null: the device holds all lists. Keeps
  /// references. `to_come` reads those of a whole graph that the device is to hold. Throws BudgetError naming
  /// the purpose.
  SweepLists(const Device& device, const SweepRows& rows, bool weighted, const char* purpose,
             std::unique_ptr<SweepPages> pages, std::vector<PageLock> locks = {},
             EdgesToCome* to_come = nullptr);

  /// Null: all lists are there.
  SweepPages* pages() const { return pages_.get(); }
  /// All rows, where all lists are there.
  SweepPage whole() const;
  /// Hands all rows to `work`, some partitions at a time.
  void for_each(const SweepPages::Work& work) const;

  Traffic traffic() const;
  /// Of a run that is only planned: what lists take of the device at least.
  std::uint64_t planned_bytes() const;

 private:
  void upload(const Device& device, EdgesToCome* to_come);

  SweepRows rows_;
  bool uploads_ = false;  ///< or are read where they are
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
};

}  // namespace sluice

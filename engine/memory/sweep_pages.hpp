// Lists that do not fit the device, brought in partitions, iteration after iteration: the in-edges of
// PageRank, the lists of Active-Compute-Combine and of queries. Plans their slots, and presents partitions as
// rows. Every slot is as large as the largest partition.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/schedule/in_place.hpp"
#include "engine/memory/traffic.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// The rows whose lists are brought: row i begins at targets[offsets[i]], in memory or in `file`.
struct SweepRows {
  SweepRows(const CsrView& rows, const EdgeSource* source = nullptr) : csr(rows), file(source) {}
  /// Rows [first, last) of `lists`, whose edges are in memory or in `file`; with weights if `weighted`.
  static SweepRows of(const CsrView& lists, const EdgeSource* file, bool weighted, std::uint64_t first,
                      std::uint64_t last);

  CsrView csr;
  const EdgeSource* file = nullptr;
  const CodedGraph* coded = nullptr;  ///< the same lists coded, without weights, if these are to be brought
  /// For a run that is only planned, if lists are yet to be made and offsets do not describe them: the most
  /// edges of a list.
  std::uint64_t max_degree = 0;
};

/// A present partition, or adjacent ones that are read in place: rows [begin, end) and their edges.
struct SweepPage {
  std::uint32_t partition = 0;
  std::uint64_t begin = 0, end = 0;
  const Vertex* sources = nullptr;  ///< or targets; indexed by position in the whole graph, as in offsets
  const float* weights = nullptr;
  CodedLists coded{};     ///< replaces both columns, by row, if lists are coded
  bool in_place = false;  ///< in host memory; kernels read it over the link

  /// The edges in mapped memory, for VertexRange.
  const Vertex* mapped() const { return in_place ? sources : nullptr; }
};

/// Bytes of `edges` edges, with weights if `weighted`.
constexpr std::uint64_t edge_bytes(EdgeIndex edges, bool weighted) {
  return edges * (sizeof(Vertex) + (weighted ? sizeof(float) : 0));
}

/// True if lists must be brought in partitions: if that is asked for, if they exceed the device memory that
/// is left after `other_bytes` bytes, or, on the host, if they are in a file. A GPU that can hold them reads
/// their file once.
bool needs_sweep_pages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t other_bytes = 0);

/// The lists of at least `min_degree` edges, by number, ascending.
std::vector<Vertex> long_lists(std::span<const EdgeIndex> offsets, std::uint64_t min_degree,
                               unsigned threads);
/// The edges of the longest list.
std::uint64_t longest_list(std::span<const EdgeIndex> offsets, unsigned threads);

/// The rows of a rank, [first, last): contiguous, with about as many edges as those of every other rank.
struct OwnedRows {
  Ownership owners;  ///< the ranks
  std::uint64_t first, last;

  /// `offsets` of all rows; `ranks` is null in a run of one rank.
  OwnedRows(std::span<const EdgeIndex> offsets, const Communicator* ranks);
  bool contains(std::uint64_t row) const { return row >= first && row < last; }
};

/// Device bytes that partitions may use if no limit is given.
std::uint64_t memory_for_sweep_pages(const Device& device);

class SweepPages {
 public:
  /// Uses the free device memory, at most `max_bytes` bytes, or as many slots as are asked for; everything
  /// else that stays on the device must already be allocated. Keeps references. Throws BudgetError if two
  /// partitions do not fit. A run that is only planned uses two slots.
  SweepPages(const Device& device, const SweepRows& rows, bool weighted, const PagingOptions& paging,
             std::uint64_t max_bytes = ~std::uint64_t{0});

  std::uint64_t size() const { return cache_.partitions(); }
  /// True if slots hold all partitions, so that each is brought once.
  bool all_fit() const { return cache_.plan().slots >= size(); }
  /// Rows of a partition.
  std::uint64_t begin(std::uint64_t partition) const { return plan().begin(partition); }
  std::uint64_t end(std::uint64_t partition) const { return plan().end(partition); }
  std::uint64_t edges(std::uint64_t partition) const { return plan().bytes(partition) / edge_bytes_; }
  const PartitionPlan& plan() const { return cache_.plan().partitions; }
  /// Partitions as ranges of rows, in device memory. Throws BudgetError.
  OwnershipView owners() { return cache_.owners(); }
  /// Bytes of slots and of look-ups beside them; 0 if partitions are read in place.
  std::uint64_t slot_bytes() const;

  /// Works on these present partitions; the work is complete when it returns.
  using Work = std::function<void(std::span<const SweepPage>)>;
  /// The work that waits in a partition; 0 if the partition is not needed.
  using Waiting = std::function<std::uint64_t(std::uint32_t)>;
  /// Passes every partition with work to `work` once (PartitionCache::sweep).
  void for_each(const Waiting& waiting, const Work& work);

  /// Chooses the partitions [size()] that a round should read in place, from its demand of each, and counts
  /// these reads as traffic. On a GPU lists must be page-locked. Chooses all partitions if that is asked for,
  /// or left open on the host, which then counts nothing; none if lists are in a file. `single_use`: no other
  /// round needs these lists.
  std::vector<bool> choose_in_place(std::span<const ListDemand> demand, bool single_use = false);
  /// The partitions of a run that are read in place.
  SweepPage in_place(PartitionRun run) const;

  Traffic traffic() const;

 private:
  CsrView rows_;
  std::uint64_t edge_bytes_;
  bool counts_in_place_;
  PagingOptions paging_;
  PartitionCache cache_;
  std::optional<InPlaceChoice> choice_;  ///< if lists may be read in place
  std::uint64_t in_place_rounds_ = 0, in_place_bytes_ = 0;
};

}  // namespace sluice

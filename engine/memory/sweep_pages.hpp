// Lists that do not fit the device, brought in partitions, iteration after iteration: the in-edges of
// PageRank, the lists of Active-Compute-Combine and of queries. What slots they need, and their partitions as
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

/// The rows whose lists are brought: row i has targets[offsets[i]] and on, in memory or in `file`.
struct SweepRows {
  SweepRows(const CsrView& rows, const EdgeSource* from = nullptr) : in(rows), file(from) {}
  /// Rows [first, last) of `lists`, whose edges are in memory or in `from`; weights if they are wanted.
  static SweepRows of(const CsrView& lists, const EdgeSource* from, bool weighted, std::uint64_t first,
                      std::uint64_t last);

  CsrView in;
  const EdgeSource* file = nullptr;
  const CodedGraph* coded = nullptr;  ///< the same lists, if they are to come in fewer bits, without weights
  /// Of a run that is only planned, where lists are yet to be made and offsets say nothing of them: the most
  /// edges that one may have.
  std::uint64_t longest = 0;
};

/// A partition that is here, or some side by side that are read in place: rows [begin, end), and where their
/// edges are.
struct SweepPage {
  std::uint32_t partition = 0;
  std::uint64_t begin = 0, end = 0;
  const Vertex* sources = nullptr;  ///< or targets; indexed by position in the whole graph, as offsets say
  const float* weights = nullptr;
  CodedLists coded{};     ///< in place of both, by row, where lists came coded
  bool in_place = false;  ///< in host memory, which kernels read over the link

  /// For VertexRange.
  const Vertex* mapped() const { return in_place ? sources : nullptr; }
};

/// What lists of so many edges take, with weights where these are wanted.
constexpr std::uint64_t edge_bytes(EdgeIndex edges, bool weighted) {
  return edges * (sizeof(Vertex) + (weighted ? sizeof(float) : 0));
}

/// Must lists be brought in partitions: asked for, too large for what the device has left when `beside` bytes
/// more are taken, or, on the host, in a file? A GPU that can hold them reads lists from their file once.
bool needs_sweep_pages(const Device& device, const SweepRows& rows, bool weighted,
                       const PagingOptions& paging, std::uint64_t beside = 0);

/// The lists of at least so many edges, by number, ascending.
std::vector<Vertex> long_lists(std::span<const EdgeIndex> offsets, std::uint64_t least, unsigned threads);
/// Of offsets, the edges of the longest list.
std::uint64_t longest_list(std::span<const EdgeIndex> offsets, unsigned threads);

/// The rows that a rank has, [first, last): about as many edges as every other rank has, one behind the
/// other.
struct OwnRows {
  Ownership owners;  ///< the ranks
  std::uint64_t first, last;

  /// Of all `offsets`; `ranks` null: this one is alone.
  OwnRows(std::span<const EdgeIndex> offsets, const Communicator* ranks);
  bool holds(std::uint64_t row) const { return row >= first && row < last; }
};

/// Bytes of the device that partitions take where nothing says less.
std::uint64_t memory_for_sweep_pages(const Device& device);

class SweepPages {
 public:
  /// Takes what the device has left, `most` bytes at most, or as many slots as are asked for; everything else
  /// that is kept there must be allocated already. Keeps references. Throws BudgetError where two partitions
  /// do not fit. A run that is only planned takes two slots.
  SweepPages(const Device& device, const SweepRows& rows, bool weighted, const PagingOptions& paging,
             std::uint64_t most = ~std::uint64_t{0});

  std::uint64_t size() const { return cache_.partitions(); }
  /// Do slots hold all partitions, so that each comes once?
  bool all_stay() const { return cache_.plan().slots >= size(); }
  /// Rows of a partition.
  std::uint64_t begin(std::uint64_t partition) const { return plan().begin(partition); }
  std::uint64_t end(std::uint64_t partition) const { return plan().end(partition); }
  std::uint64_t edges(std::uint64_t partition) const { return plan().bytes(partition) / edge_bytes_; }
  const PartitionPlan& plan() const { return cache_.plan().partitions; }
  /// Partitions as ranges of rows, where kernels read them. Throws BudgetError.
  OwnershipView owners() { return cache_.owners(); }
  /// What slots take, with look-ups beside them; 0 where partitions are read in place.
  std::uint64_t slot_bytes() const;

  /// Works on these partitions, which are here, and is done when it returns.
  using Work = std::function<void(std::span<const SweepPage>)>;
  /// How much is to be done in a partition; 0: it is not wanted.
  using Waiting = std::function<std::uint64_t(std::uint32_t)>;
  /// Hands every wanted partition to `work` once (PartitionCache::sweep).
  void for_each(const Waiting& waiting, const Work& work);

  /// The partitions [size()] that a round which wants so much of each had best read in place, and then does:
  /// it counts as traffic. Lists must be page-locked on a GPU. All partitions where that is asked for, or
  /// left open on the host, which counts nothing then; none where lists are in a file. `once`: no other round
  /// wants them.
  std::vector<bool> read_in_place(std::span<const ListDemand> wanted, bool once = false);
  /// Such partitions.
  SweepPage in_place(PartitionRun run) const;

  Traffic traffic() const;

 private:
  CsrView rows_;
  std::uint64_t edge_bytes_;
  bool counts_in_place_;
  PagingOptions paging_;
  PartitionCache cache_;
  std::optional<InPlaceChoice> choice_;  ///< where lists may be read in place
  std::uint64_t in_place_rounds_ = 0, in_place_bytes_ = 0;
};

}  // namespace sluice

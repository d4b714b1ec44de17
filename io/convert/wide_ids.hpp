// Handles ids that are too large, or too sparse for the budget, for one bit each. They are sorted into a list
// on disk while the edges wait in a scratch file. The edges are then read back with every id replaced by its
// rank, its position in the list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/core/charged_vector.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/memory/scratch_file.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/edge_source.hpp"

namespace sluice::io {

/// A sorted list of distinct ids, of any length, which are added in any order.
class IdList {
 public:
  /// Sorts in `memory` bytes, on `threads` threads, with files in the folder `scratch`.
  IdList(std::uint64_t memory, unsigned threads, const std::string& scratch);

  void add(std::uint64_t id) {
    sorter_.add(1)->set_ends(static_cast<Vertex>(id >> 32), static_cast<Vertex>(id));
  }
  void close();  ///< no more ids

  // After close().
  std::uint64_t size() const { return file_.size() / sizeof(std::uint64_t); }
  /// Reads the ids of ranks `first`, `first` + 1, ...
  void read(std::uint64_t first, std::span<std::uint64_t> ids) const {
    file_.read(first * sizeof(std::uint64_t), std::as_writable_bytes(ids));
  }
  /// Calls visit(id) for every id, ascending.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::uint64_t ids[1024];
    for (std::uint64_t first = 0; first < size(); first += std::size(ids)) {
      const auto piece = std::span(ids).first(std::min<std::uint64_t>(std::size(ids), size() - first));
      read(first, piece);
      std::for_each(piece.begin(), piece.end(), visit);
    }
  }

 private:
  using Record = EdgeRecord<false, false>;  // its ends are the halves of an id

  EdgeSorter<Record> sorter_;
  ScratchFile file_;  ///< the list
};

/// Consecutive ids of a list, held in memory.
class IdRanks {
 public:
  IdRanks(const IdList& list, std::uint64_t first, std::uint64_t count)
      : first_(first), ids_(count, "ranks of sparse ids") {
    list.read(first, ids_.span());
  }
  /// Replaces ids by marked ranks. Ids beyond this range, and ranks, stay unchanged. A search waits for
  /// memory at every step, so N searches are interleaved.
  template <std::size_t N>
  void rank(std::uint64_t* const (&ids)[N]) const {
    std::uint64_t begin[N] = {};
    for (std::uint64_t remaining = ids_.size(); remaining > 1;) {
      const std::uint64_t half = remaining / 2;
      for (std::size_t i = 0; i < N; ++i) begin[i] += ids_[begin[i] + half] <= *ids[i] ? half : 0;
      remaining -= half;
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (*ids[i] <= ids_[ids_.size() - 1]) *ids[i] = kRank | (first_ + begin[i]);
    }
  }
  static std::uint64_t unmarked(std::uint64_t rank) { return rank & ~kRank; }

 private:
  static constexpr std::uint64_t kRank = std::uint64_t{1} << 63;  // ids are smaller

  std::uint64_t first_;
  HostArray<std::uint64_t> ids_;
};

/// Edges with their full ids, stored in a scratch file.
class EdgeSpool {
 public:
  EdgeSpool(const std::string& scratch, unsigned threads, const EdgeStreamInfo& info);

  /// Appends the edges from `begin` on, and adds their ids to `ids`; returns the largest id.
  std::uint64_t append(const EdgeBatch& batch, std::size_t begin, IdList& ids);
  void append(std::uint64_t source, std::uint64_t target, float weight, std::int64_t time);
  void close();  ///< no more edges

  // After close().
  /// Replaces every id by its rank in `list`, which is processed in pieces of `memory` bytes. The last piece
  /// stays in memory, and replay() applies it.
  void rank_ids(const IdList& list, std::uint64_t memory);
  /// Returns the edges in order, with ranks as ids.
  std::unique_ptr<EdgeStream> replay() const;

 private:
  friend class SpoolSource;
  struct Edge {
    std::uint64_t source, target;
    std::int64_t time;
    float weight;
  };
  static constexpr std::size_t kBlock = 1u << 15;  // edges written and read at a time
  static constexpr std::size_t kGrain = 1u << 11;  // edges whose ids one thread replaces at a time

  void rank(std::span<Edge> edges) const;

  /// Reads edges from byte `offset` on, with ids replaced as far as ranks_ has them; empty at the end.
  std::span<Edge> read(std::uint64_t& offset, ChargedVector<Edge>& block) const;

  std::string scratch_;
  unsigned threads_;
  std::unique_ptr<ScratchFile> file_;
  EdgeStreamInfo info_;
  std::optional<IdRanks> ranks_;
  ChargedVector<Edge> block_{ChargedAllocator<Edge>("edges with sparse ids")};
};

}  // namespace sluice::io

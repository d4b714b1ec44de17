// Edges in the order of a graph file's rows, wherever they were sorted: what a conversion writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "partition/edge_record.hpp"

namespace sluice::io {

class IdSet;

template <class Record>
class SortedEdges {
 public:
  virtual ~SortedEdges() = default;
  /// Records in order, piece by piece, as often as asked.
  virtual void scan(const std::function<void(std::span<const Record>)>& visit) = 0;
  /// Swaps source and target of every record and sorts again, keeping all.
  virtual void reverse() = 0;

  virtual std::uint64_t size() const = 0;     ///< records
  virtual std::uint64_t dropped() const = 0;  ///< duplicates: a mirrored pair counts once
};

using PlainRecord = EdgeRecord<false, false>;

/// What is stored of a source's edges that have no weights and times: no self-loops, each edge once.
struct SortRequest {
  bool undirected = false;  ///< both directions
  IdSet* ids = nullptr;     ///< takes the ids of all edges, self-loops too; null: not asked for
};

/// The edges of a source that sorts them itself.
struct SortedInput {
  std::unique_ptr<SortedEdges<PlainRecord>> edges;  ///< null: it does not
  std::uint64_t count = 0;                          ///< edges of the source
  std::uint64_t self_loops = 0;
};

}  // namespace sluice::io

// Edges in the order of a graph file's rows, wherever they were sorted; a conversion writes them.
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
  /// Calls visit() with all records in order, piece by piece; may be called repeatedly.
  virtual void scan(const std::function<void(std::span<const Record>)>& visit) = 0;
  /// Swaps source and target of every record and sorts again; keeps all records.
  virtual void reverse() = 0;

  virtual std::uint64_t size() const = 0;     ///< records
  virtual std::uint64_t dropped() const = 0;  ///< duplicates: a mirrored pair counts once
};

using PlainRecord = EdgeRecord<false, false>;

/// How a source sorts its edges without weights and times: it drops self-loops and keeps each edge once.
struct SortRequest {
  bool undirected = false;  ///< store both directions
  IdSet* ids = nullptr;     ///< receives the ids of all edges and self-loops; null: not needed
};

/// The edges of a source that sorts them itself.
struct SortedInput {
  std::unique_ptr<SortedEdges<PlainRecord>> edges;  ///< null: it does not sort
  std::uint64_t count = 0;                          ///< edges of the source
  std::uint64_t self_loops = 0;
};

}  // namespace sluice::io

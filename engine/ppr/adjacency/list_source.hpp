// How the lists that queries on a GPU miss come to its cache (cache.cuh): gathered by the host
// (gathered_lists.cuh), or copied from slots on the GPU itself (copied_lists.cuh).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/types.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/adjacency/wanted.hpp"

namespace sluice::ppr {

class ListFeeder;

/// The cache's columns, in the device's memory.
struct CacheColumns {
  const EdgeIndex* offsets = nullptr;      ///< [vertices + 1] the graph's
  const std::uint64_t* missing = nullptr;  ///< bits of the lists that are to come, 64 vertices a word
  EdgeIndex* places = nullptr;             ///< [vertices] where lists begin
  double* totals = nullptr;                ///< [vertices] sums of weights; null where the run splits evenly
  Vertex* targets = nullptr;
  float* weights = nullptr;  ///< null where the run splits evenly
  EdgeIndex used = 0;        ///< what comes lies behind so many edges
};

class ListSource {
 public:
  virtual ~ListSource() = default;

  /// Takes memory of the device for what brings lists, if it has none: `left` bytes are for this and for
  /// lists. Throws BudgetError.
  virtual void open(std::uint64_t /*left*/) {}
  /// What open() takes at least; 0 once it has.
  virtual std::uint64_t needs() const { return 0; }
  /// Brings the lists that are wanted, for which there is memory, side by side in any order: no result
  /// depends on it. Says where they are, and sums up their weights.
  virtual void bring(WantedLists& wanted, const CacheColumns& to) = 0;
  /// Gives back what open() took.
  virtual void close() {}
  /// Gives back memory of the host.
  virtual void rest() {}
  /// Other ranks may still want lists of this one; returns once none does.
  virtual void finish() {}
  /// What it keeps on the device all the time.
  virtual std::uint64_t bytes() const { return 0; }
  virtual ListTraffic traffic() const = 0;
  /// For others to share; null where lists come of no rank.
  virtual std::shared_ptr<ListFeeder> rank_feeder() const { return nullptr; }
};

}  // namespace sluice::ppr

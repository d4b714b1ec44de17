// Ids too large, or too sparse for the budget, to have one bit each: they are collected into a sorted list
// while the edges wait in a scratch file, and the edges are then read back with every id replaced by its
// rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "io/convert/scratch_file.hpp"
#include "io/edge_source.hpp"

namespace sluice::io {

/// A sorted list of distinct ids, gathered in any order.
class IdList {
 public:
  /// BudgetError once gathering takes more than `memory` bytes.
  explicit IdList(std::uint64_t memory) : memory_(memory) {}

  void add(std::uint64_t id) {
    if (waiting_ == pending_.size()) settle();
    pending_[waiting_++] = id;
  }
  /// Sorts in what was added last; to be called before the list is asked for anything.
  void settle();

  std::uint64_t size() const { return size_; }
  std::uint64_t rank(std::uint64_t id) const {
    return static_cast<std::uint64_t>(std::lower_bound(ids_.begin(), ids_.begin() + size_, id) -
                                      ids_.begin());
  }
  std::span<const std::uint64_t> ids() const { return {ids_.data(), size_}; }
  std::uint64_t bytes() const { return ids_.bytes() + pending_.bytes(); }
  /// Gives back the room for more.
  void close() { settle(), pending_ = {}, waiting_ = 0; }

 private:
  std::uint64_t memory_;
  HostArray<std::uint64_t> ids_;      ///< the first size_ are sorted and distinct
  HostArray<std::uint64_t> pending_;  ///< the first waiting_ are not yet among them
  std::uint64_t size_ = 0, waiting_ = 0;
};

/// Edges with their full ids, waiting in scratch.
class EdgeSpool {
 public:
  EdgeSpool(const std::string& scratch, const EdgeSourceInfo& info) : file_(scratch), info_(info) {}

  void append(std::uint64_t source, std::uint64_t target, float weight, std::int64_t time);
  void close();  ///< no more edges

  /// The edges again, in order, each id replaced by its rank in `list` (null: as it is).
  std::unique_ptr<EdgeSource> replay(const IdList* list);

 private:
  friend class SpoolSource;
  struct Edge {
    std::uint64_t source, target;
    std::int64_t time;
    float weight;
  };
  static constexpr std::size_t kBlock = 1u << 14;  // edges written and read at a time

  ScratchFile file_;
  EdgeSourceInfo info_;
  std::vector<Edge> block_;
};

}  // namespace sluice::io

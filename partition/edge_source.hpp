// Edges of a graph that are in a file, or not yet read into host memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/core/types.hpp"

namespace sluice {

/// Reads columns of edges by position. Safe to call from several threads.
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  /// Reads targets of edges [first, first + out.size()), checked to be vertices. Throws InputError.
  virtual void read_targets(EdgeIndex first, std::span<Vertex> out) const = 0;
  /// Reads weights, checked to be finite and not negative; only where the graph is weighted.
  virtual void read_weights(EdgeIndex first, std::span<float> out) const = 0;
  /// Whether edges have times, which are needed only for a batch and for a copy of the graph.
  virtual bool timed() const { return false; }
  /// Reads times; only where edges have them.
  virtual void read_times(EdgeIndex /*first*/, std::span<std::int64_t> /*out*/) const {}
};

/// Edges of a graph whose arrays are allocated, but still to be read.
class PendingEdges {
 public:
  /// Called when the lists of vertices [begin, end) have been read; `thread` numbers the calling reader.
  using UseLists = std::function<void(std::uint64_t begin, std::uint64_t end, unsigned thread)>;

  virtual ~PendingEdges() = default;
  /// Whether all edges have been read.
  virtual bool complete() const = 0;
  /// Reads the edges on `threads` threads. If `use` is given, they call it for ranges that hold each vertex
  /// once, while others read on. Throws InputError, the same for any threads; `use` sees no faulty list.
  virtual void read(unsigned threads, const UseLists& use = {}) = 0;
};

}  // namespace sluice

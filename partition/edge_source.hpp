// Where the edges of a graph are when they are not in host memory.
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
  /// Whether edges have times, which only a batch and a copy of the graph want.
  virtual bool timed() const { return false; }
  /// Reads times; only where edges have them.
  virtual void read_times(EdgeIndex /*first*/, std::span<std::int64_t> /*out*/) const {}
};

/// Edges of a graph that have their place in memory, and are still to be read.
class EdgesToCome {
 public:
  /// Of vertices [begin, end), whose lists are there; `thread` is the one that calls, of those that read.
  using UseLists = std::function<void(std::uint64_t begin, std::uint64_t end, unsigned thread)>;

  virtual ~EdgesToCome() = default;
  /// Have they come?
  virtual bool there() const = 0;
  /// Reads them by so many threads, which call `use`, if there is one, once for each vertex, while others
  /// read on. Throws InputError, of the same fault by any threads; `use` saw no list with a fault.
  virtual void read(unsigned threads, const UseLists& use = {}) = 0;
};

}  // namespace sluice

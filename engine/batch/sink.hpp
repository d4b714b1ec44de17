// Receivers of results. The engine streams results batch by batch; `apps` connects these interfaces to the
// writers of `io`.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/types.hpp"

namespace sluice {

/// Walks of consecutive instances [first, first + count), in order of instance.
struct WalkBatch {
  Instance first = 0;
  std::uint64_t count = 0;
  std::uint32_t length = 0;  ///< steps requested
  std::span<const Vertex>
      walks;  ///< [count, length + 1], kNoVertex after the end; empty for multidimensional
  std::span<const Vertex> edges;  ///< pools: [count, length, edges a step, 2], kNoVertex after the end
  std::span<const Vertex> pool;   ///< pools: [count, seeds]
};

class WalkSink {
 public:
  virtual ~WalkSink() = default;
  /// Called in order of instance; the spans are valid during the call only.
  virtual void write(const WalkBatch& batch) = 0;
};

/// Samples of consecutive instances, edges in order of instance, depth, frontier order, neighbour position.
struct SampleBatch {
  Instance first = 0;
  std::uint64_t count = 0;
  std::span<const std::uint64_t> edge_counts;    ///< [count]
  std::span<const Vertex> source, target;        ///< [edges]
  std::span<const std::int32_t> depth;           ///< [edges], 1 is the first hop
  std::span<const EdgeIndex> edge;               ///< [edges], position in /out/indices
  std::span<const std::uint64_t> seed_counts;    ///< [count]
  std::span<const Vertex> seeds;                 ///< repeated seeds once
  std::span<const std::uint64_t> vertex_counts;  ///< `node`: [count], else empty
  std::span<const Vertex> vertices;              ///< `node`: ascending
};

class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// Called in order of instance; the spans are valid during the call only.
  virtual void write(const SampleBatch& batch) = 0;
};

}  // namespace sluice

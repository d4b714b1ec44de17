// Inside of ResidentGraph: the graph where the device reaches it, and the tables derived from it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/exec/buffer.hpp"
#include "engine/sampling/run.hpp"
#include "engine/sampling/sampler.hpp"
#include "engine/select/graph_view.hpp"
#include "engine/select/wide.hpp"

namespace sluice {

/// Tables of one fixed bias, each empty until it is asked for.
struct BiasTables {
  Buffer<std::uint64_t> cumulative;  ///< [edges] CTPS: inclusive sums within each list
  Buffer<std::uint64_t> thresholds;  ///< [edges] alias, plain layout
  Buffer<std::uint32_t> others;      ///< [edges]
  Buffer<WideAlias> wide_alias;      ///< [edges] alias, wide layout
  Buffer<std::uint64_t> bounds;      ///< [vertices] largest bias of each list
  Buffer<std::uint32_t> positive;    ///< [vertices] entries of positive bias

  std::uint64_t bytes() const {
    return cumulative.bytes() + thresholds.bytes() + others.bytes() + wide_alias.bytes() + bounds.bytes() +
           positive.bytes();
  }
};

struct ResidentGraph::Impl {
  Impl(Device& on, const Graph& of);

  Device& device;
  const Graph& graph;
  GraphView view;  ///< pointers to the device's memory
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  Buffer<std::int16_t> exponents;
  Buffer<Vertex> hubs;  ///< GPU: vertices of more than kHubDegree edges
  Buffer<WideEdge> wide;
  Buffer<std::uint64_t> packed;  ///< wide edges in 8 bytes, where `packing` is worthwhile
  EdgePacking packing;
  std::array<BiasTables, 3> named;  ///< by Bias
  std::shared_ptr<void> workspace;  ///< memory that waves of samples reuse, made by the GPU's driver
  std::uint32_t max_degree = 0;
  double load_seconds = 0;
  double table_seconds = 0;  ///< all tables made so far
  std::uint64_t host_to_device_bytes = 0;

  /// Can offsets and degrees be packed (40 and 24 bits)?
  bool packable() const {
    return view.edges() <= PackedRow::kMaxOffset && max_degree <= PackedRow::kMaxDegree;
  }
  /// Without weights every weight is 1, and a bias by weight is none.
  Bias effective(Bias bias) const { return bias == Bias::weight && !graph.weighted ? Bias::none : bias; }
  const WideEdge* wide_edges();
  const std::uint64_t* packed_edges();
};

/// Seconds since an arbitrary point, for phases.
double seconds_now();

}  // namespace sluice

// Queries in dense rows on a GPU (dense/kernels.cuh): as many groups at a time as keep it busy.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/ppr/adjacency/graph_on_device.hpp"
#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

class DenseQueries {
 public:
  /// Keeps references to all of them. The graph must not be read in place.
  DenseQueries(const Device& device, GraphOnDevice& graph, const Options& options);

  /// Allocates memory for as many of `count` queries as can run at once. False if it does not suffice.
  bool prepare(std::uint64_t count);
  /// Answers rows[0 .. count), on the device. False, and nothing is done, if memory does not suffice. Waits
  /// for the stream during a long diffusion; its work may be unfinished on return.
  bool run(const BatchView& batch, const QueryRules& rules, const std::uint32_t* rows, std::uint64_t count,
           const cuda::Stream& stream);
  /// Memory per query, as last prepared.
  std::uint64_t query_bytes() const { return shape_.query_bytes(); }
  /// Memory beside the in-edges.
  std::uint64_t bytes() const { return masses_.bytes() + words_.bytes() + counts_.bytes(); }
  /// Frees all memory but the in-edges; no query may run.
  void release();

 private:
  template <class Pass>
  void run_passes(Pass&& pass, const cuda::Stream& stream);

  const Device& device_;
  GraphOnDevice& graph_;
  const Options& options_;
  DenseShape shape_;
  std::uint64_t groups_ = 0;  ///< at a time
  Buffer<Mass> masses_;
  Buffer<std::uint32_t> words_;
  Buffer<DenseCounts> counts_;
  Buffer<std::uint32_t> moving_;
  Staging<std::uint32_t> moving_on_host_;
};

}  // namespace sluice::ppr

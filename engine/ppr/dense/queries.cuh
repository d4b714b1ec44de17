// Queries side by side on a GPU (dense/kernels.cuh): as many groups at a time as keep it busy.
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
  /// Keeps references to all of them. The graph is not read in place.
  DenseQueries(const Device& device, GraphOnDevice& graph, const Options& options);

  /// Takes memory for as many of `count` queries as there can be at once. False where it is too short.
  bool prepare(std::uint64_t count);
  /// Answers rows[0 .. count), on the device. False, and nothing is done, where memory is too short. The
  /// stream is waited for where diffusion is long, and goes on.
  bool answer(const BatchView& batch, const QueryRules& rules, const std::uint32_t* rows, std::uint64_t count,
              const cuda::Stream& stream);
  /// Memory of each query, as prepared last.
  std::uint64_t query_bytes() const { return shape_.query_bytes(); }
  /// Memory that is held beside the in-edges.
  std::uint64_t bytes() const { return masses_.bytes() + words_.bytes() + counts_.bytes(); }
  /// Gives back all but the in-edges, once no query is at work.
  void give_back();

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
  Staging<std::uint32_t> moving_here_;
};

}  // namespace sluice::ppr

// A batch of pools in device memory, and the work of one visit to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/core/build_namespace.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/samples/pool/step.hpp"
#include "engine/select/taken.hpp"

namespace sluice::samples {
inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

/// Memory of a batch: one row per instance.
struct PoolBatch {
  PoolBatch(const Device& device, std::uint64_t count, const PoolSizes& sizes)
      : seeds(device, count * sizes.seeds, kPurpose),
        pool(device, count * sizes.entries, kPurpose),
        biases(device, count * sizes.biases(), kPurpose),
        selected(device, count * sizes.selected, kPurpose),
        targets(device, count * sizes.targets, kPurpose),
        edges(device, count * 2 * sizes.edges, kPurpose) {}

  static constexpr const char* kPurpose = "a batch of pools";

  Buffer<Vertex> seeds, pool;
  Buffer<std::uint64_t> biases;
  Buffer<std::uint32_t> selected;
  Buffer<Vertex> targets, edges;
};

/// Host memory for results on their way to the sink; its size does not grow with the batch.
struct PoolPieces {
  struct Piece {
    Staging<Vertex> edges, seeds;
  };

  PoolPieces(const Device& device, std::uint64_t batch, const PoolSizes& sizes) {
    constexpr std::uint64_t kMaxBytes = 32u << 20, kShare = 8;
    const std::uint64_t bytes = (sizes.seeds + 2 * sizes.edges) * sizeof(Vertex);
    rows = std::min(
        batch, std::max<std::uint64_t>(std::min(kMaxBytes, host_budget().available() / kShare) / bytes, 1));
    for (Piece& piece : pieces) {
      piece.edges = Staging<Vertex>(device, rows * 2 * sizes.edges, "departing pools");
      piece.seeds = Staging<Vertex>(device, rows * sizes.seeds, "departing pools");
    }
  }

  /// The piece that is not being written.
  const Piece& next() { return pieces[next_piece++ % 2]; }

  std::uint64_t rows;  ///< instances in a piece; 0 if results are not copied in pieces
  std::uint64_t next_piece = 0;
  std::array<Piece, 2> pieces;
};

/// Pointers into a PoolBatch, for kernels.
struct PoolRows {
  PoolSizes sizes;
  PoolRow base;

  SLUICE_HD PoolRow at(std::uint64_t row) const {
    return {base.seeds + row * sizes.seeds,
            base.pool + row * sizes.entries,
            {base.biases.biases + row * sizes.biases(), sizes.entries},
            base.selected + row * sizes.selected,
            base.targets + row * sizes.targets,
            base.edges + row * 2 * sizes.edges};
  }
};

/// Runs the instances of a batch from `first` on, on a whole graph.
template <class Program>
struct RunPools {
  PoolRows rows;
  Program program;
  Instance first;

  /// Counts selected edges.
  struct Counters {
    static constexpr unsigned kSums = 1;
    std::uint64_t edges = 0;
    SLUICE_HD std::uint64_t value(unsigned) const { return edges; }
  };

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t row, Counters& counters) const {
    const std::uint32_t edges = program.run(group, first + row, rows.at(row));
    if (group.rank() == 0) counters.edges += edges;
    return true;
  }
};

/// Walks the instances of a batch through resident lists, each from where the last visit stopped.
template <class Program>
struct VisitPools {
  PoolRows rows;
  Program program;
  Instance first;
  PageMap lists;
  PoolState* states;  ///< [instances]
  Vertex* awaited;    ///< [instances] vertex whose list is needed; kNoVertex: none, the walk has ended
  bool first_visit;   ///< true at a batch's first visit

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t row, PickCounters&) const {
    const PoolRow pool_row = rows.at(row);
    if (!first_visit && awaited[row] == kNoVertex) return true;
    PoolState state = first_visit ? program.begin(group, first + row, pool_row) : states[row];
    const Vertex next =
        program.walk(group, first + row, state, pool_row, PagedLists<Program::kTabled>{lists});
    if (next == kNoVertex) program.end(group, state, pool_row);
    group.sync();
    if (group.rank() == 0) states[row] = state, awaited[row] = next;
    return true;
  }
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples

// A batch of pools in the device's memory, and what one visit to it does.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/core/accountant.hpp"
#include "engine/core/build_namespace.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/samples/pool/step.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// Memory of a batch: one row an instance.
struct PoolBatch {
  PoolBatch(const Device& device, std::uint64_t count, std::uint32_t size, std::uint32_t length)
      : seeds(device, count * size, kPurpose),
        pool(device, count * size, kPurpose),
        biases(device, count * size, kPurpose),
        edges(device, count * 2 * length, kPurpose) {}

  static constexpr const char* kPurpose = "a batch of pools";

  Buffer<Vertex> seeds, pool;
  Buffer<std::uint64_t> biases;
  Buffer<Vertex> edges;
};

/// Host memory for results on their way to the sink: what it takes does not grow with the batch.
struct PoolPieces {
  struct Piece {
    Staging<Vertex> edges, seeds;
  };

  PoolPieces(const Device& device, std::uint64_t batch, std::uint64_t pool, std::uint64_t length) {
    constexpr std::uint64_t kMost = 32u << 20, kShare = 8;
    const std::uint64_t each = (pool + 2 * length) * sizeof(Vertex);
    rows = std::clamp<std::uint64_t>(std::min(kMost, host_accountant().available() / kShare) / each, 1,
                                     std::max<std::uint64_t>(batch, 1));
    for (Piece& piece : both) {
      piece.edges = Staging<Vertex>(device, rows * 2 * length, "pools that leave");
      piece.seeds = Staging<Vertex>(device, rows * pool, "pools that leave");
    }
  }

  /// The piece that is not being written.
  const Piece& next() { return both[turn++ % 2]; }

  std::uint64_t rows;  ///< instances in a piece
  std::uint64_t turn = 0;
  std::array<Piece, 2> both;
};

/// One visit of a batch's instances to the partitions that are here.
struct PoolVisits {
  PagedLists lists;
  PoolState* states;  ///< [instances]
  Vertex* waits_at;   ///< [instances]
  bool first;         ///< nothing was done yet
};

/// Pointers of a batch, for kernels.
struct PoolRows {
  Vertex *seeds, *pool;
  std::uint64_t* biases;
  Vertex* edges;

  template <class Group, class Program>
  SLUICE_HD std::uint32_t run(const Group& group, const Program& program, Instance instance,
                              std::uint64_t row) const {
    const std::uint64_t at = row * program.pool_size;
    return program.run(group, instance, seeds + at, pool + at, biases + at, edges + row * 2 * program.length);
  }
  /// The same through the lists that are here, from where the last visit stopped. `waits_at` is the vertex
  /// whose list it needs, or kNoVertex at the end.
  template <class Group, class Program>
  SLUICE_HD void visit(const Group& group, const Program& program, Instance instance, std::uint64_t row,
                       const PoolVisits& visits) const {
    const std::uint64_t at = row * program.pool_size;
    Vertex* const path = edges + row * 2 * program.length;
    if (!visits.first && visits.waits_at[row] == kNoVertex) return;
    PoolState state = visits.first ? program.begin(group, instance, seeds + at, pool + at, biases + at)
                                   : visits.states[row];
    const Vertex waits = program.walk(group, instance, state, pool + at, biases + at, path, visits.lists);
    if (waits == kNoVertex) program.end(group, state, path);
    group.sync();
    if (group.rank() == 0) visits.states[row] = state, visits.waits_at[row] = waits;
  }
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice

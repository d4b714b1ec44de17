// A warp works on a dense row, one lane per query. A pass over all rows pulls along in-edges what their
// sources send, and splits it again: the steps of diffusion.hpp, to the same bits. A word per vertex marks
// the queries that send; rows in which none sends are neither read nor written. On the Kronecker graph of
// docs/papers.md (26,941 vertices) a query of six steps takes an H200 8.0 us this way, and 186 in a table.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/ppr/adjacency/graph_on_device.hpp"
#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

/// The queries of some groups; trivially copyable.
struct DenseView {
  QueryRules rules;
  CsrView in;                         ///< in-edges, with weights if `rules` has them
  const Vertex* long_rows = nullptr;  ///< [long_count] rows with a block of their own
  std::uint32_t long_count = 0;
  const std::uint64_t* reciprocals = nullptr;  ///< [vertices] of out-degrees
  std::uint32_t rows_per_warp = 1;
  DenseShape shape;
  Mass* masses = nullptr;               ///< of the first group
  std::uint32_t* words = nullptr;       ///< of the first group
  DenseCounts* counts = nullptr;        ///< [count]
  std::uint32_t* moving = nullptr;      ///< number of passes up to the last in which mass arrived
  std::uint32_t count = 0;              ///< queries; query i is column i % width of group i / width
  const std::uint32_t* rows = nullptr;  ///< [count] rows in the batch
  BatchView batch;

  __device__ DenseGroupView group(std::uint64_t i) const {
    return DenseGroupView::of(masses, words, shape, i);
  }
  __device__ SeedsView seeds_of(std::uint32_t query) const { return batch.seeds_of(rows[query]); }
};

/// With this many blocks per SM, no lane spills more than a few registers.
inline constexpr unsigned kDenseBlock = 256, kDenseWarps = kDenseBlock / 32, kDenseBlocksPerSm = 6;

/// State of a block in a pass, by lane.
struct BlockPassState {
  Mass returning[32];  ///< to the seeds, or to each vertex
  std::uint32_t active;
  std::uint32_t arrived[kDenseWarps];  ///< not 0: mass arrived
  // Sums of each lane of a warp.
  std::uint64_t edges[kDenseWarps][32];
  Mass returned[kDenseWarps][32], sent[kDenseWarps][32];
};

/// A warp that works on rows of a group, a lane per query.
template <bool Weighted>
class DenseLanes {
 public:
  __device__ DenseLanes(const DenseView& view, BlockPassState& state, std::uint32_t pass)
      : view_(view), state_(state), group_(view.group(blockIdx.y)), pass_(pass) {
    state_.edges[warp()][lane()] = state_.returned[warp()][lane()] = state_.sent[warp()][lane()] = 0;
    if (lane() == 0) state_.arrived[warp()] = 0;
    has_returning_ = __any_sync(~0u, state_.returning[lane()] != 0);
  }

  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ static unsigned warp() { return threadIdx.x / 32; }

  /// Sums what arrives along in-edges [first, last): along 32 of them from number `from` on, then again
  /// `stride` edges further on.
  __device__ Mass pull(EdgeIndex first, EdgeIndex last, unsigned offset, unsigned stride) const {
    const Vertex* const sources = view_.in.targets + first;
    const std::uint32_t* const sending = group_.sending(pass_ + 1);
    const Mass* const shares = group_.shares(pass_ + 1) + lane();
    const auto count = static_cast<std::uint32_t>(last - first);
    Mass sum = 0;
    for (std::uint32_t at = offset; at < count; at += stride) {
      const unsigned edges = count - at < 32 ? count - at : 32;
      Vertex source = 0;
      std::uint32_t senders = 0;
      float weight = 0;
      if (lane() < edges) {
        source = sources[at + lane()];
        senders = sending[source];
        if (Weighted) weight = view_.in.weights[first + at + lane()];
      }
      if (!__any_sync(~0u, senders != 0)) continue;
      for (unsigned edge = 0; edge < edges; edge += kUnroll)
        sum += pull_batch(shares, source, senders, weight, edge);
    }
    return sum;
  }

  /// Completes a row: scores the kept mass, and prepares the rest to be pulled.
  __device__ void process_row(Vertex row, Mass mass) const {
    std::uint32_t seeds = 0;
    if (has_returning_) {
      const bool to_seeds = pass_ == 0 || view_.rules.dangling == Dangling::seed;
      if (to_seeds) seeds = group_.seeds()[row];
      if (!to_seeds) mass += state_.returning[lane()];
      if (seeds >> lane() & 1) mass += seed_mass(row);
    }
    const std::uint32_t arrived = __ballot_sync(~0u, mass != 0) | (pass_ == 0 ? seeds : 0);
    if (arrived == 0) {
      if (lane() == 0) group_.sending(pass_)[row] = 0;
      return;
    }
    if (lane() == 0) state_.arrived[warp()] = 1;
    const std::uint64_t at = static_cast<std::uint64_t>(row) * view_.shape.width + lane();
    const bool active = state_.active >> lane() & 1;
    const Mass followed = view_.rules.continuation.followed(mass);
    Mass kept = 0;
    if (mass != 0 && active) kept = is_last_pass() ? mass : view_.rules.continuation.kept(mass);
    score(row, at, kept, arrived);
    if (is_last_pass()) return;
    send(row, at, mass != 0 && active, followed);
  }

 private:
  static constexpr unsigned kUnroll = 4;  ///< rows that are read at once

  __device__ Mass pull_batch(const Mass* shares, Vertex source, std::uint32_t senders, float weight,
                             unsigned edge) const {
    std::uint64_t share[kUnroll];
#pragma unroll
    for (unsigned i = 0; i < kUnroll; ++i) {
      const std::uint64_t from = __shfl_sync(~0u, source, edge + i);
      const std::uint32_t sends = __shfl_sync(~0u, senders, edge + i) >> lane() & 1;
      share[i] = sends ? shares[from * view_.shape.width] : 0;
    }
    Mass sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kUnroll; ++i) {
      if (Weighted) {
        const double each = static_cast<double>(__shfl_sync(~0u, weight, edge + i));
        sum += weighted_share(double_of(share[i]), each);
      } else {
        sum += share[i];
      }
    }
    return sum;
  }

  /// Returning mass at a vertex that is a seed of this lane's query, perhaps several times.
  __device__ Mass seed_mass(Vertex vertex) const {
    const SeedsView seeds = view_.seeds_of(blockIdx.y * view_.shape.width + lane());
    const auto before = [&](std::uint32_t i) { return seeds.seeds[i].vertex < vertex; };
    Mass mass = 0;
    for (std::uint32_t low = count_while(seeds.count, before);
         low < seeds.count && seeds.seeds[low].vertex == vertex; ++low)
      mass += seeds.share(low, state_.returning[lane()]);
    return mass;
  }

  /// True in the last pass of a diffusion of L steps, whose residuals are score.
  __device__ bool is_last_pass() const {
    return view_.rules.length != 0 && pass_ == view_.rules.length;
  }

  __device__ void score(Vertex row, std::uint64_t at, Mass kept, std::uint32_t arrived) const {
    const std::uint32_t before = group_.reached()[row];
    __syncwarp();  // all have read it before the first lane changes it
    if (lane() == 0 && (arrived & ~before) != 0) group_.reached()[row] = before | arrived;
    if (lane() >= view_.shape.width) return;
    Mass* const score = group_.scores() + at;
    if (before == 0) {
      *score = kept;
    } else if (kept != 0) {
      *score += kept;
    }
  }

  __device__ void send(Vertex row, std::uint64_t at, bool sends, Mass followed) const {
    const std::uint64_t share = sends ? split(row, followed) : 0;
    const std::uint32_t senders = __ballot_sync(~0u, share != 0);
    if (lane() == 0) group_.sending(pass_)[row] = senders;
    if (senders != 0 && lane() < view_.shape.width) group_.shares(pass_)[at] = share;
  }

  /// The share of each edge.
  __device__ std::uint64_t split(Vertex row, Mass followed) const {
    const CsrView& out = view_.rules.graph;
    const EdgeIndex begin = out.offsets[row], degree = out.offsets[row + std::uint64_t{1}] - begin;
    const double total = Weighted ? view_.rules.totals[row] : 1;
    if (degree == 0 || total == 0) {
      state_.returned[warp()][lane()] += followed;
      return 0;
    }
    state_.edges[warp()][lane()] += degree;
    const bool to_tolerance = view_.rules.length == 0;
    Mass& sent = state_.sent[warp()][lane()];
    if (!Weighted) {
      const Mass share = divided(followed, degree, view_.reciprocals[row]);
      if (to_tolerance) sent += share * degree;
      return share;
    }
    const double each = mass_per_weight(followed, total);
    if (to_tolerance) {
      for (EdgeIndex edge = begin; edge < begin + degree; ++edge)
        sent += weighted_share(each, static_cast<double>(out.weights[edge]));
    }
    return bits_of(each);
  }

  const DenseView& view_;
  BlockPassState& state_;
  DenseGroupView group_;
  std::uint32_t pass_;
  bool has_returning_;
};

}  // namespace sluice::ppr

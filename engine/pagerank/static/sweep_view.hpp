// The update of one vertex in an iteration: one source for both backends.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/pagerank/divisor.hpp"
#include "engine/pagerank/share.hpp"
#include "engine/pagerank/static/sweep_totals.hpp"

namespace sluice::pagerank {

/// Position of a row's contribution: by vertex, or by number (numbered_sources.hpp).
struct ByVertex {
  SLUICE_HD std::uint64_t operator()(std::uint64_t row) const { return row; }
};
struct ByNumber {
  const Vertex* numbers = nullptr;  ///< [rows]; rows are all vertices

  SLUICE_HD std::uint64_t operator()(std::uint64_t row) const { return numbers[row]; }
};

/// In-edges in CSR. gather() sums contributions to a row: each of `groups` groups takes a part of the list,
/// and each of its lanes a part of that.
struct PlainSources {
  const Vertex* sources = nullptr;  ///< indexed by the offsets of rows
  const float* weights = nullptr;

  template <class Share, class View, class Group>
  SLUICE_HD FixedRank gather(const View& view, std::uint64_t row, const Group& lanes, unsigned group = 0,
                             unsigned groups = 1) const {
    const EdgeIndex begin = view.offsets[row];
    return pull<Share>(view.shares, sources + begin, Share::kWeighted ? weights + begin : nullptr,
                       view.degree(row), group * Group::kSize + lanes.rank(), groups * Group::kSize);
  }
};

/// In-edges in the coded layout, without weights; sources are below `vertices`. If an H200 holds a quarter of
/// the lists' bytes, an iteration makes 34.4 G edges/s, and 17.7 with plain lists (Kronecker 24).
struct CodedSources {
  CodedLists lists;
  std::uint64_t vertices = 0;

  template <class Share, class View, class Group>
  SLUICE_HD FixedRank gather(const View& view, std::uint64_t row, const Group& lanes, unsigned group = 0,
                             unsigned groups = 1) const {
    const CodedRow list = lists.rows[row];
    if (list.degree == 0) return 0;
    FixedRank sum = 0;
    EliasFano::of(vertices, list.degree)
        .for_each(lanes, lists.words + list.begin, group, groups,
                  [&](Vertex source) { sum += Share::edge_contribution(view.shares[source], 1.0f); });
    return sum;
  }
};

/// Pointers to the state of this rank's rows (RankGraph::in()), in the memory of one device. Trivially
/// copyable.
template <class Share, class Position = ByVertex>
struct SweepView {
  using Stored = typename Share::Stored;

  const EdgeIndex* offsets = nullptr;  ///< [rows + 1]
  const double* divisors = nullptr;    ///< [rows]
  const Loop* loops = nullptr;         ///< [rows], or null if no self-loop was added
  const FixedRank* before = nullptr;   ///< [rows]
  FixedRank* after = nullptr;          ///< [rows]; may be `before`
  const Stored* shares = nullptr;      ///< [vertices] of the graph
  Stored* next_shares = nullptr;       ///< [rows]
  std::uint64_t first = 0;             ///< the vertex of row 0
  RankNorm norm = RankNorm::linf;
  RankUpdate update;
  Position position{};

  SLUICE_HD std::uint64_t degree(std::uint64_t row) const { return offsets[row + 1] - offsets[row]; }

  /// Updates the rank of a row whose sources contribute `sum`.
  SLUICE_HD void update_row(std::uint64_t row, FixedRank sum, SweepTotals& totals) const {
    if (loops != nullptr && loops[row] == Loop::added)
      sum += Share::edge_contribution(shares[first + position(row)], 1);
    const FixedRank old_rank = before[row], new_rank = update(sum);
    totals.change.add(old_rank, new_rank, norm);
    put(row, new_rank, totals);
  }

  /// Sets the rank of a row, and its contribution for the next iteration.
  SLUICE_HD void put(std::uint64_t row, FixedRank rank, SweepTotals& totals) const {
    const double divisor = divisors[row];
    const Stored share = share_of<Share>(rank, divisor);
    after[row] = rank;
    totals.rank += rank;
    next_shares[position(row)] = share;
    if (!(divisor > 0)) totals.dangling += rank;
  }
};

}  // namespace sluice::pagerank

// What an iteration does to one vertex: the same source on both backends.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/pagerank/divisor.hpp"
#include "engine/pagerank/share.hpp"
#include "engine/pagerank/static/sweep_totals.hpp"

namespace sluice::pagerank {

/// Where the contributions of a row's vertex are.
struct ByVertex {
  SLUICE_HD std::uint64_t operator()(std::uint64_t row) const { return row; }
};
struct ByNumber {
  const Vertex* numbers = nullptr;  ///< [rows], which are all vertices

  SLUICE_HD std::uint64_t operator()(std::uint64_t row) const { return numbers[row]; }
};

/// In-edges as they are: what a row's sources give it, of which one of `groups` groups gathers a part, and
/// each of its lanes a part of that.
struct PlainSources {
  const Vertex* sources = nullptr;  ///< indexed as offsets say
  const float* weights = nullptr;

  template <class Share, class View, class Group>
  SLUICE_HD FixedRank gather(const View& view, std::uint64_t row, const Group& lanes, unsigned group = 0,
                             unsigned groups = 1) const {
    const EdgeIndex begin = view.offsets[row];
    return pull<Share>(view.shares, sources + begin, Share::kWeighted ? weights + begin : nullptr,
                       view.degree(row), group * Group::kSize + lanes.rank(), groups * Group::kSize);
  }
};

/// The same of in-edges in fewer bits and without weights, whose sources are below `vertices`. With a quarter
/// of the lists' bytes on an H200 an iteration makes 34.4 G edges/s so, 17.7 from lists as they are
/// (Kronecker 24).
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
                  [&](Vertex source) { sum += Share::carried(view.shares[source], 1.0f); });
    return sum;
  }
};

/// Pointers to the state of the rows that are renewed here (RankGraph::in()), in the memory of one device.
/// Trivially copyable.
template <class Share, class Place = ByVertex>
struct SweepView {
  using Stored = typename Share::Stored;

  const EdgeIndex* offsets = nullptr;  ///< [rows + 1]
  const double* divisors = nullptr;    ///< [rows]
  const Loop* loops = nullptr;         ///< [rows], or null: no vertex was given a self-loop
  const FixedRank* before = nullptr;   ///< [rows]
  FixedRank* after = nullptr;          ///< [rows]; may be `before`
  const Stored* shares = nullptr;      ///< [vertices] of the graph
  Stored* next_shares = nullptr;       ///< [rows]
  std::uint64_t first = 0;             ///< the vertex of row 0
  RankNorm norm = RankNorm::linf;
  RankUpdate update;
  Place place{};

  SLUICE_HD std::uint64_t degree(std::uint64_t row) const { return offsets[row + 1] - offsets[row]; }

  /// Ends the iteration for a row whose sources gave `sum` in all.
  SLUICE_HD void renew(std::uint64_t row, FixedRank sum, SweepTotals& totals) const {
    if (loops != nullptr && loops[row] == Loop::added) sum += Share::carried(shares[first + place(row)], 1);
    const FixedRank was = before[row], is = update(sum);
    totals.change.add(was, is, norm);
    put(row, is, totals);
  }

  /// Sets a rank, and what the vertex offers in the next iteration.
  SLUICE_HD void put(std::uint64_t row, FixedRank rank, SweepTotals& totals) const {
    const double divisor = divisors[row];
    const Stored share = share_of<Share>(rank, divisor);
    after[row] = rank;
    totals.rank += rank;
    next_shares[place(row)] = share;
    if (!(divisor > 0)) totals.dangling += rank;
  }
};

}  // namespace sluice::pagerank

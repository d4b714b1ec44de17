// The pieces in which a rank sweeps its rows. The contributions of one piece are sent to the other ranks
// while the next piece is swept.
//
// Rows are in order of falling degree, so the last rows have most contributions to send and few edges. Pieces
// are swept from the last to the first, and each has a fraction of the work of the one before. So most
// contributions are sent while other pieces are swept. Those of the piece that is swept last, for which all
// ranks wait, are few: a tenth of all or less on Kronecker graphs. Long rows of all pieces are swept with the
// first one: the longest takes as long as a small piece, and at the end of one all ranks would wait for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/search.hpp"

namespace sluice::pagerank {

/// The most pieces, and the default number.
inline constexpr unsigned kMaxPieces = 8, kDefaultPieces = 2;

struct SweepPieces {
  unsigned count = 1;
  std::uint64_t ratio = 1;  ///< work of piece p + 1, which is swept first, over that of piece p
};

/// Pieces for a graph with so many vertices and edges, the same on all of `ranks`. `requested` pieces; 0: as
/// many as pay. Throws UsageError if more than kMaxPieces are wanted.
SweepPieces sweep_pieces(unsigned requested, std::uint64_t vertices, std::uint64_t edges, int ranks);

/// [pieces.count + 1] The cuts: piece p is rows [cuts[p], cuts[p + 1]), which may be empty. work_before(row)
/// is the work of rows [0, row), for `row` up to `rows`; it never falls. With the last piece, which is swept
/// first, work `extra_work` is done that belongs to no piece. If that is most of the work, the other pieces
/// have half of the work of rows.
template <class WorkBefore>
std::vector<std::uint64_t> cut_rows(std::uint64_t rows, const SweepPieces& pieces, std::uint64_t extra_work,
                                    const WorkBefore& work_before) {
  std::vector<std::uint64_t> parts{0};  // work before each piece, in units of that of piece 0
  for (std::uint64_t part = 1; parts.size() <= pieces.count; part *= pieces.ratio)
    parts.push_back(parts.back() + part);
  using Wide = unsigned __int128;
  const Wide row_work = work_before(rows), total_work = row_work + extra_work;
  std::vector<std::uint64_t> cuts{0};
  for (unsigned p = 1; p < pieces.count; ++p) {
    const Wide target =
        std::min(total_work * parts[p] / parts.back(), row_work * parts[p] / (2 * parts[pieces.count - 1]));
    const std::uint64_t last = cuts.back();
    const auto too_little = [&](std::uint64_t count) { return work_before(last + count) < target; };
    cuts.push_back(last + count_while(rows - last, too_little));
  }
  cuts.push_back(rows);
  return cuts;
}

}  // namespace sluice::pagerank

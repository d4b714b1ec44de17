// In which pieces a rank sweeps its rows, so that what the rows of one give is sent to the other ranks while
// the next is swept.
//
// Rows lie by falling degree, so the last ones have most of what is sent and few of the edges. Pieces are
// swept from the last to the first, and each has a fraction of the work of the one before: what the first of
// them gives crosses while the others are swept, and what the last one gives, for which all ranks wait, is
// little: a tenth of all or less on Kronecker graphs. Long rows of all pieces are swept with the first: the
// longest takes as long as a small piece, and all ranks would wait for it at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/search.hpp"

namespace sluice::pagerank {

/// Pieces at most; by themselves so many.
inline constexpr unsigned kMostPieces = 8, kUsualPieces = 2;

struct SweepPieces {
  unsigned count = 1;
  std::uint64_t ratio = 1;  ///< how many times the work of piece p piece p + 1 has, which is swept before it
};

/// For all of `ranks` alike; of a graph of so many vertices and edges. `wanted` pieces; 0: as many as pay.
/// Throws UsageError where more than kMostPieces are wanted.
SweepPieces sweep_pieces(unsigned wanted, std::uint64_t vertices, std::uint64_t edges, int ranks);

/// [pieces.count + 1] Piece p is rows [cuts[p], cuts[p + 1]), which may be none. work_before(row) is that of
/// rows [0, row), for `row` up to `rows`; it never falls. Beside the last piece, which is swept before all
/// others, `beside` as much work is done that belongs to none; where that is most of it, the others have half
/// of the rest.
template <class WorkBefore>
std::vector<std::uint64_t> cut_rows(std::uint64_t rows, const SweepPieces& pieces, std::uint64_t beside,
                                    const WorkBefore& work_before) {
  std::vector<std::uint64_t> parts{0};  // of the work, before each piece, in units of piece 0
  for (std::uint64_t part = 1; parts.size() <= pieces.count; part *= pieces.ratio)
    parts.push_back(parts.back() + part);
  using Wide = unsigned __int128;
  const Wide own = work_before(rows), all = own + beside;
  std::vector<std::uint64_t> cuts{0};
  for (unsigned p = 1; p < pieces.count; ++p) {
    const Wide wanted =
        std::min(all * parts[p] / parts.back(), own * parts[p] / (2 * parts[pieces.count - 1]));
    const std::uint64_t last = cuts.back();
    const auto too_little = [&](std::uint64_t more) { return work_before(last + more) < wanted; };
    cuts.push_back(last + count_while(rows - last, too_little));
  }
  cuts.push_back(rows);
  return cuts;
}

}  // namespace sluice::pagerank

// Going through the edges of some rows once, wherever they are.
#pragma once

#include <cstdint>
#include <functional>

#include "partition/graph.hpp"

namespace sluice {

/// Edges of rows [begin, end). Columns are indexed by positions in the whole graph, as offsets say; one that
/// was not asked for need not be there.
using UseRows =
    std::function<void(std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights)>;

/// Hands over all rows at once where their edges are in memory (`file` null), else piece by piece, as they
/// are read from the file.
void for_each_piece(const CsrView& rows, const EdgeSource* file, bool targets, bool weights,
                    const UseRows& use);

}  // namespace sluice

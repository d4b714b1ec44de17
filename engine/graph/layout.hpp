#pragma once

namespace sluice {

/// The form of edges in memory. `wide`: an edge carries its target's offset and degree. `coded`, in
/// partitions: lists in Elias-Fano code, with fewer bits. It never changes a draw.
enum class Layout { automatic, csr, wide, coded };

}  // namespace sluice

#pragma once

namespace sluice {

/// How edges lie in memory. `wide`: an edge carries its target's offset and degree. `coded`, in partitions:
/// lists in fewer bits. Never changes a draw.
enum class Layout { automatic, csr, wide, coded };

}  // namespace sluice

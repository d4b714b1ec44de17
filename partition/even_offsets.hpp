// Offsets for plans of a graph with known numbers of vertices and edges only: lists about equally long.
#pragma once

#include <memory>
#include <optional>

#include "engine/core/types.hpp"

namespace sluice {

/// Returns offsets [vertices + 1] of lists whose lengths differ by at most one edge; vertices > 0. They take
/// address space, but at most 64 MiB of memory: pages are filled when they are read. Throws BudgetError if
/// there is no address space.
std::shared_ptr<void> even_offsets(std::uint64_t vertices, std::uint64_t edges);

/// The parameters of even offsets.
struct EvenLists {
  const EdgeIndex* offsets;
  std::uint64_t vertices, edges;  ///< vertex ids have 32 bits

  /// v * edges / vertices, rounded down.
  EdgeIndex offset(std::uint64_t v) const {
    return v * (edges / vertices) + v * (edges % vertices) / vertices;
  }
  std::uint64_t longest() const { return (edges + vertices - 1) / vertices; }
  /// The even lists that `offset` points into; nullopt if it points to other offsets.
  static std::optional<EvenLists> find(const EdgeIndex* offset);
};

/// Any offsets, for reads at many places; even ones are computed instead of read.
class OffsetReader {
 public:
  explicit OffsetReader(const EdgeIndex* offsets) : offsets_(offsets), even_(EvenLists::find(offsets)) {}
  EdgeIndex operator[](std::uint64_t i) const {
    return even_ ? even_->offset(static_cast<std::uint64_t>(offsets_ - even_->offsets) + i) : offsets_[i];
  }

 private:
  const EdgeIndex* offsets_;
  std::optional<EvenLists> even_;
};

}  // namespace sluice

// Offsets of a graph of which only its numbers are known, as plans see it: lists that are about equally long.
#pragma once

#include <memory>
#include <optional>

#include "engine/core/types.hpp"

namespace sluice {

/// Offsets [vertices + 1] of lists that have as many edges as any other, or one more; vertices > 0. They take
/// address space, and of memory 64 MiB at most: pages are filled when they are read. Throws BudgetError where
/// there is no address space.
std::shared_ptr<void> even_offsets(std::uint64_t vertices, std::uint64_t edges);

/// What such offsets are made of.
struct EvenLists {
  const EdgeIndex* offsets;
  std::uint64_t vertices, edges;  ///< vertices are numbered by 32 bits

  /// v * edges / vertices, rounded down.
  EdgeIndex offset(std::uint64_t v) const {
    return v * (edges / vertices) + v * (edges % vertices) / vertices;
  }
  std::uint64_t longest() const { return (edges + vertices - 1) / vertices; }
  /// Those that an offset is of; empty: it is another graph's.
  static std::optional<EvenLists> of(const EdgeIndex* offset);
};

/// Any offsets, to be read at many places.
class OffsetsAt {
 public:
  explicit OffsetsAt(const EdgeIndex* offsets) : offsets_(offsets), even_(EvenLists::of(offsets)) {}
  EdgeIndex operator[](std::uint64_t i) const {
    return even_ ? even_->offset(static_cast<std::uint64_t>(offsets_ - even_->offsets) + i) : offsets_[i];
  }

 private:
  const EdgeIndex* offsets_;
  std::optional<EvenLists> even_;
};

}  // namespace sluice

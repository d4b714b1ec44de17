// The result list of a query on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/ppr/mass.hpp"
#include "engine/ppr/query_workspace.hpp"

namespace sluice::ppr {

/// The vertices of the largest scores above 0, largest first, then by rising id. Scores are compared as they
/// are written, rounded to doubles. Most vertices rank behind the last of the list so far; the others are put
/// in order from time to time.
class TopList {
 public:
  /// Entries that a list of `top` needs if at most `vertices` are added.
  static std::uint64_t entries(std::uint64_t vertices, std::uint32_t top) {
    return std::min(vertices, 2 * std::uint64_t{top});
  }
  static std::uint64_t bytes(std::uint64_t vertices, std::uint32_t top) {
    return entries(vertices, top) * sizeof(RankedVertex);
  }
  TopList(std::span<RankedVertex> memory, std::size_t top, const MassUnits& units = {})
      : memory_(memory), top_(top), units_(units) {}

  void add(Vertex vertex, Mass score) {
    const RankedVertex v{bits_of(units_.share(score)), vertex};
    if (!v.before(last_)) return;
    if (size_ == memory_.size()) cut();
    memory_[size_++] = v;
  }
  /// Fills the rest with kNoVertex and 0.
  void write(std::span<Vertex> vertices, std::span<double> values) {
    cut();
    const auto listed = memory_.first(size_);
    std::sort(listed.begin(), listed.end(), before);
    for (std::size_t i = 0; i < top_; ++i) {
      vertices[i] = i < size_ ? listed[i].vertex : kNoVertex;
      values[i] = i < size_ ? double_of(listed[i].key) : 0.0;
    }
  }

 private:
  static bool before(const RankedVertex& a, const RankedVertex& b) { return a.before(b); }

  void cut() {
    if (size_ <= top_) return;
    const auto begin = memory_.begin(), last = begin + static_cast<std::ptrdiff_t>(top_) - 1;
    std::nth_element(begin, last, begin + static_cast<std::ptrdiff_t>(size_), before);
    size_ = top_;
    last_ = *last;
  }

  std::span<RankedVertex> memory_;
  std::size_t top_, size_ = 0;
  MassUnits units_;
  RankedVertex last_;  ///< no vertex that ranks after it is listed
};

}  // namespace sluice::ppr

// The edges of a synthetic graph as a function of (seed, edge index): any range of them, in any order, by any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "io/generate/generate.hpp"

namespace sluice::io {

/// A seeded bijection on [0, 2^bits). Each round multiplies by an odd number and adds a number modulo 2^bits,
/// then XORs the value with its own upper half. All steps can be undone, so no two labels collide.
class LabelPermutation {
 public:
  LabelPermutation() = default;
  LabelPermutation(unsigned bits, std::uint64_t seed);

  SLUICE_HD Vertex operator()(Vertex v) const {
    for (const Round& round : rounds_) {
      v = (v * round.factor + round.addend) & mask_;
      v ^= v >> shift_;
    }
    return v;
  }

 private:
  struct Round {
    std::uint32_t factor = 1, addend = 0;
  };
  Round rounds_[4];
  std::uint32_t mask_ = 0;
  unsigned shift_ = 1;
};

struct EdgeEnds {
  Vertex source, target;
};

/// One level of R-MAT: appends a bit to the source and a bit to the target.
SLUICE_HD void descend(std::uint32_t random, Vertex& source, Vertex& target) {
  // 0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19 of 2^32, rounded down: the quadrants (0,0), (0,1), (1,0), and the
  // rest.
  constexpr std::uint32_t kBelowA = 2448131358u, kBelowB = 3264175144u, kBelowC = 4080218931u;
  const std::uint32_t past_a = random >= kBelowA, past_b = random >= kBelowB, past_c = random >= kBelowC;
  source = source << 1 | past_b;
  target = target << 1 | (past_a ^ past_b ^ past_c);
}
inline constexpr unsigned kLevelsPerBlock = 4;  ///< levels of R-MAT per Philox block

/// Maps an edge index to an edge. Random kinds draw from Philox with the seed as key and the counter {draw j
/// of Stream::generate, edge low, edge high, scale}; every decision is made with integers.
class EdgeGenerator {
 public:
  /// Throws UsageError if the scale exceeds what vertex ids can distinguish.
  explicit EdgeGenerator(const GenerateOptions& options);

  SLUICE_HD unsigned scale() const { return options_.scale; }
  SLUICE_HD std::uint64_t vertices() const { return std::uint64_t{1} << options_.scale; }
  SLUICE_HD std::uint64_t edges() const { return edges_; }
  bool undirected() const { return options_.kind == GraphKind::grid; }
  std::string origin() const;

  /// Computes one edge.
  SLUICE_HD EdgeEnds at(std::uint64_t edge) const;
  /// Computes edges first, first + 1, ..., as many as the columns hold.
  void fill(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;

 private:
  SLUICE_HD PhiloxBlock draw(std::uint64_t edge, unsigned level) const;
  SLUICE_HD EdgeEnds rmat(std::uint64_t edge) const;
  SLUICE_HD EdgeEnds grid(std::uint64_t edge) const;
  void fill_rmat(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;

  GenerateOptions options_;
  std::uint64_t edges_ = 0;
  LabelPermutation labels_;  ///< kronecker only
};

SLUICE_HD PhiloxBlock EdgeGenerator::draw(std::uint64_t edge, unsigned level) const {
  return philox({draw_word(Stream::generate, level / kLevelsPerBlock), static_cast<std::uint32_t>(edge),
                 static_cast<std::uint32_t>(edge >> 32), options_.scale},
                options_.seed);
}

SLUICE_HD EdgeEnds EdgeGenerator::rmat(std::uint64_t edge) const {
  EdgeEnds ends{0, 0};
  for (unsigned level = 0; level < options_.scale; level += kLevelsPerBlock) {
    const PhiloxBlock block = draw(edge, level);
    descend(block.x, ends.source, ends.target);
    if (level + 1 < options_.scale) descend(block.y, ends.source, ends.target);
    if (level + 2 < options_.scale) descend(block.z, ends.source, ends.target);
    if (level + 3 < options_.scale) descend(block.w, ends.source, ends.target);
  }
  return ends;
}

/// First the edges along the rows, then those along the columns; each from the smaller id to the larger.
SLUICE_HD EdgeEnds EdgeGenerator::grid(std::uint64_t edge) const {
  const std::uint64_t rows = std::uint64_t{1} << options_.scale / 2, columns = vertices() / rows;
  const std::uint64_t along_rows = rows * (columns - 1);
  const bool along_row = edge < along_rows;
  const std::uint64_t from =
      along_row ? edge / (columns - 1) * columns + edge % (columns - 1) : edge - along_rows;
  return {static_cast<Vertex>(from), static_cast<Vertex>(from + (along_row ? 1 : columns))};
}

SLUICE_HD EdgeEnds EdgeGenerator::at(std::uint64_t edge) const {
  switch (options_.kind) {
    case GraphKind::rmat:
      return rmat(edge);
    case GraphKind::kronecker: {
      const EdgeEnds ends = rmat(edge);
      return {labels_(ends.source), labels_(ends.target)};
    }
    case GraphKind::uniform: {
      const PhiloxBlock block = draw(edge, 0);
      return {static_cast<Vertex>(uniform_index(block.low(), vertices())),
              static_cast<Vertex>(uniform_index(block.high(), vertices()))};
    }
    case GraphKind::grid:
      return grid(edge);
    case GraphKind::ring:
      break;
  }
  return {static_cast<Vertex>(edge), static_cast<Vertex>((edge + 1) & (vertices() - 1))};
}

}  // namespace sluice::io

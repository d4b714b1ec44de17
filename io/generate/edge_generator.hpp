// The edges of a synthetic graph as a function of (seed, edge index): any range of them, in any order, by any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "engine/core/types.hpp"
#include "io/generate/generate.hpp"

namespace sluice::io {

/// A seeded bijection on [0, 2^bits): rounds of multiplication by an odd number modulo 2^bits, and of an
/// exclusive or with the own upper half. Both can be undone, so no two labels collide.
class LabelPermutation {
 public:
  LabelPermutation() = default;
  LabelPermutation(unsigned bits, std::uint64_t seed);

  Vertex operator()(Vertex v) const {
    for (const auto [factor, addend] : rounds_) {
      v = (v * factor + addend) & mask_;
      v ^= v >> shift_;
    }
    return v;
  }

 private:
  struct Round {
    std::uint32_t factor = 1, addend = 0;
  };
  std::array<Round, 4> rounds_;
  std::uint32_t mask_ = 0;
  unsigned shift_ = 1;
};

/// Which edge has which index. Random kinds draw from Philox with the seed as key and the counter
/// {draw j of Stream::generate, edge low, edge high, scale}; every decision is made with integers.
class EdgeGenerator {
 public:
  /// UsageError if the scale exceeds what vertex ids can distinguish.
  explicit EdgeGenerator(const GenerateOptions& options);

  std::uint64_t vertices() const { return std::uint64_t{1} << options_.scale; }
  std::uint64_t edges() const { return edges_; }
  bool undirected() const { return options_.kind == GraphKind::grid; }
  std::string origin() const;

  /// Edges first, first + 1, ... as many as the columns are long.
  void fill(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;

 private:
  void fill_rmat(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;
  void fill_uniform(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;
  void fill_grid(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;
  void fill_ring(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const;

  GenerateOptions options_;
  std::uint64_t edges_ = 0;
  LabelPermutation labels_;  ///< kronecker only
};

}  // namespace sluice::io

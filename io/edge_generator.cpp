#include "io/edge_generator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"

namespace sluice::io {
namespace {

/// 0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19 of 2^32, rounded down: the quadrants (0,0), (0,1), (1,0), and the
/// rest.
constexpr std::uint32_t kBelowA = 2448131358u, kBelowB = 3264175144u, kBelowC = 4080218931u;
constexpr unsigned kLevelsPerBlock = 4;
/// The label permutation's draws: behind all that an edge may use.
constexpr std::uint32_t kPermutationDraw = 1u << 16;

/// Appends one level: a bit to the source and a bit to the target.
inline void descend(std::uint32_t random, Vertex& source, Vertex& target) {
  const std::uint32_t past_a = random >= kBelowA, past_b = random >= kBelowB, past_c = random >= kBelowC;
  source = source << 1 | past_b;
  target = target << 1 | (past_a ^ past_b ^ past_c);
}

const char* name_of(GraphKind kind) {
  switch (kind) {
    case GraphKind::rmat:
      return "rmat";
    case GraphKind::kronecker:
      return "kronecker";
    case GraphKind::uniform:
      return "uniform";
    case GraphKind::grid:
      return "grid";
    case GraphKind::ring:
      return "ring";
  }
  return "unknown";
}

}  // namespace

LabelPermutation::LabelPermutation(unsigned bits, std::uint64_t seed)
    : mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)),
      shift_(std::max(1u, (bits + 1) / 2)) {
  std::uint32_t draw = kPermutationDraw;
  for (Round& round : rounds_) {
    const PhiloxBlock block = philox({draw_word(Stream::generate, draw++), 0, 0, bits}, seed);
    round = {block.x | 1, block.y};
  }
}

EdgeGenerator::EdgeGenerator(const GenerateOptions& options) : options_(options) {
  if (options.scale > 31) throw UsageError(fmt::format("--scale {}: at most 31", options.scale));
  const std::uint64_t rows = std::uint64_t{1} << options.scale / 2, columns = vertices() / rows;
  switch (options.kind) {
    case GraphKind::kronecker:
      labels_ = LabelPermutation(options.scale, options.seed);
      [[fallthrough]];
    case GraphKind::rmat:
    case GraphKind::uniform:
      edges_ = vertices() * options.edge_factor;
      break;
    case GraphKind::grid:
      edges_ = rows * (columns - 1) + (rows - 1) * columns;
      break;
    case GraphKind::ring:
      edges_ = vertices();
      break;
  }
}

std::string EdgeGenerator::origin() const {
  const bool random = options_.kind != GraphKind::grid && options_.kind != GraphKind::ring;
  std::string text = fmt::format("generate {} --scale {}", name_of(options_.kind), options_.scale);
  if (random) text += fmt::format(" --edge-factor {} --seed {}", options_.edge_factor, options_.seed);
  return text;
}

void EdgeGenerator::fill(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  switch (options_.kind) {
    case GraphKind::rmat:
    case GraphKind::kronecker:
      return fill_rmat(first, source, target);
    case GraphKind::uniform:
      return fill_uniform(first, source, target);
    case GraphKind::grid:
      return fill_grid(first, source, target);
    case GraphKind::ring:
      return fill_ring(first, source, target);
  }
}

void EdgeGenerator::fill_rmat(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  const unsigned whole = options_.scale / kLevelsPerBlock, rest = options_.scale % kLevelsPerBlock;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint64_t edge = first + i;
    const auto block_at = [&](unsigned draw) {
      return philox({draw_word(Stream::generate, draw), static_cast<std::uint32_t>(edge),
                     static_cast<std::uint32_t>(edge >> 32), options_.scale},
                    options_.seed);
    };
    Vertex u = 0, v = 0;
    for (unsigned draw = 0; draw < whole; ++draw) {
      const PhiloxBlock block = block_at(draw);
      descend(block.x, u, v);
      descend(block.y, u, v);
      descend(block.z, u, v);
      descend(block.w, u, v);
    }
    if (rest > 0) {
      const PhiloxBlock block = block_at(whole);
      descend(block.x, u, v);
      if (rest > 1) descend(block.y, u, v);
      if (rest > 2) descend(block.z, u, v);
    }
    source[i] = u, target[i] = v;
  }
  if (options_.kind == GraphKind::kronecker) {
    for (Vertex& v : source) v = labels_(v);
    for (Vertex& v : target) v = labels_(v);
  }
}

void EdgeGenerator::fill_uniform(std::uint64_t first, std::span<Vertex> source,
                                 std::span<Vertex> target) const {
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint64_t edge = first + i;
    const PhiloxBlock block = philox({draw_word(Stream::generate, 0), static_cast<std::uint32_t>(edge),
                                      static_cast<std::uint32_t>(edge >> 32), options_.scale},
                                     options_.seed);
    source[i] = static_cast<Vertex>(uniform_index(block.low(), vertices()));
    target[i] = static_cast<Vertex>(uniform_index(block.high(), vertices()));
  }
}

/// First the edges along the rows, then those along the columns; each from the smaller id to the larger.
void EdgeGenerator::fill_grid(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  const std::uint64_t rows = std::uint64_t{1} << options_.scale / 2, columns = vertices() / rows;
  const std::uint64_t along_rows = rows * (columns - 1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint64_t edge = first + i;
    const bool along_row = edge < along_rows;
    const std::uint64_t from =
        along_row ? edge / (columns - 1) * columns + edge % (columns - 1) : edge - along_rows;
    source[i] = static_cast<Vertex>(from);
    target[i] = static_cast<Vertex>(from + (along_row ? 1 : columns));
  }
}

void EdgeGenerator::fill_ring(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<Vertex>(first + i);
    target[i] = static_cast<Vertex>((first + i + 1) & (vertices() - 1));
  }
}

}  // namespace sluice::io

// The integer types of vertices, edges and instances.
#pragma once

#include <cstdint>

namespace sluice {

/// A vertex id inside the engine. Files hold i32, or i64 where the vertex count exceeds 2^31 - 1.
using Vertex = std::uint32_t;
/// A position in `/out/indices`: an edge's id.
using EdgeIndex = std::uint64_t;
/// An instance: one walk, one query, or one sample grown from its own seeds.
using Instance = std::uint64_t;

/// "No vertex": written as -1 in files.
inline constexpr Vertex kNoVertex = 0xffffffffu;
/// The largest number of vertices that the engine's ids can distinguish (kNoVertex is not an id).
inline constexpr std::uint64_t kMaxVertices = 0xffffffffu;

}  // namespace sluice

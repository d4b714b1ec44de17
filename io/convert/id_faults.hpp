// Errors for ids that no graph can have.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/types.hpp"

namespace sluice::io {

inline InputError id_too_large(const std::string& origin, std::uint64_t id) {
  return InputError(fmt::format("{}: id {} is not below 2^63", origin, id));
}

inline InputError too_many_vertices(std::uint64_t vertices) {
  return InputError(
      fmt::format("ids up to {} exceed the {} vertices a graph can have; use --compact to drop unused ids",
                  vertices - 1, kMaxVertices));
}

}  // namespace sluice::io

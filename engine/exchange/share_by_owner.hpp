// A column that every rank fills for the vertices that it owns.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice {

/// Makes `column` [vertices][width] on every rank what the vertices' owners have there. All ranks call it.
template <class T>
void share_by_owner(Communicator& ranks, const Ownership& owners, T* column, const char* label,
                    std::uint64_t width = 1) {
  for (std::uint64_t rank = 0; rank < owners.size(); ++rank) {
    const std::span part(column + owners.begin(rank) * width, owners.count(rank) * width);
    if (!part.empty()) ranks.broadcast(std::as_writable_bytes(part), static_cast<int>(rank), label);
  }
}

}  // namespace sluice

// What it costs queries to have their lists brought.
#pragma once

#include <cstdint>

#include "engine/memory/traffic.hpp"

namespace sluice::ppr {

struct ListTraffic : Traffic {
  std::uint64_t asked = 0, answered = 0;  ///< lists, of other ranks and for them; or walks, to and from them
  std::uint64_t list_rounds = 0;          ///< lists came for all queries that waited, or walks were worked on
  /// How often a query began again: on a GPU for lists that came meanwhile, on the host where no memory was
  /// left.
  std::uint64_t restarts = 0;

  /// Of feeders that follow each other.
  void add_later(const ListTraffic& later) {
    add_traffic(later);
    asked += later.asked, answered += later.answered;
    list_rounds += later.list_rounds, restarts += later.restarts;
  }
};

}  // namespace sluice::ppr

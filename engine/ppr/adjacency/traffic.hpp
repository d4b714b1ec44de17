// The cost of fetching lists for queries.
#pragma once

#include <cstdint>

#include "engine/memory/traffic.hpp"

namespace sluice::ppr {

struct ListTraffic : Traffic {
  std::uint64_t requests_sent = 0,
                requests_received = 0;    ///< lists from other ranks, and for them; or walks sent, received
  std::uint64_t list_rounds = 0;          ///< lists were fetched for all waiting queries, or walks advanced
  /// How often a query began again: on a GPU after missing lists were fetched, on the host after it found no
  /// memory left.
  std::uint64_t restarts = 0;

  /// Adds the traffic of a feeder that follows.
  void add(const ListTraffic& later) {
    add_traffic(later);
    requests_sent += later.requests_sent, requests_received += later.requests_received;
    list_rounds += later.list_rounds, restarts += later.restarts;
  }
};

}  // namespace sluice::ppr

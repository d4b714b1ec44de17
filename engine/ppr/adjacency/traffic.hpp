// What it costs queries to have their lists brought.
#pragma once

#include <cstdint>

#include "engine/memory/traffic.hpp"

namespace sluice::ppr {

struct ListTraffic : SweepTraffic {
  std::uint64_t asked = 0, answered = 0;  ///< lists, of other ranks and for them; or walks, to and from them
  std::uint64_t rounds = 0;  ///< in which lists came for all queries that waited, or walks were worked on
  std::uint64_t mapped_bytes = 0;  ///< of walks: that they read in place
  /// How often a query began again: on a GPU for lists that came meanwhile, on the host where no memory was
  /// left.
  std::uint64_t restarts = 0;

  /// Of feeders that follow each other.
  void add_later(const ListTraffic& later) {
    partitions = later.partitions;
    transfers += later.transfers;
    host_to_device_bytes += later.host_to_device_bytes;
    read_bytes += later.read_bytes;
    asked += later.asked, answered += later.answered;
    rounds += later.rounds, restarts += later.restarts;
    mapped_bytes += later.mapped_bytes;
  }
};

}  // namespace sluice::ppr

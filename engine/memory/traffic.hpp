#pragma once

#include <cstdint>

namespace sluice {

/// What was brought to the device, and from where.
struct SweepTraffic {
  std::uint64_t partitions = 1;
  std::uint64_t transfers = 0;
  std::uint64_t host_to_device_bytes = 0;
  std::uint64_t read_bytes = 0;       ///< from the graph file
  std::uint64_t exchanged_bytes = 0;  ///< sent from GPU to GPU
  std::uint64_t rounds = 0;           ///< of work on what was there
  std::uint64_t mapped_rounds = 0;    ///< of these, those that read some partitions in place
  /// Of lists that ACC rounds read in place: whole ones, or of rows that look at few edges, about as many.
  std::uint64_t mapped_bytes = 0;
};

}  // namespace sluice

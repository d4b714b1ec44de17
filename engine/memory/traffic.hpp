#pragma once

#include <cstdint>

namespace sluice {

/// What was brought to the device, by source; a part of every run's figures.
struct Traffic {
  std::uint64_t partitions = 1;           ///< into which the graph was cut
  std::uint64_t partition_transfers = 0;  ///< partitions brought to the device
  std::uint64_t host_to_device_bytes = 0;
  std::uint64_t read_bytes = 0;       ///< from the graph file, while running
  std::uint64_t exchanged_bytes = 0;  ///< sent from GPU to GPU
  /// Read in place: the bytes of draws (graph/read_bytes.hpp), or the edges in rounds through lists.
  std::uint64_t mapped_bytes = 0;
  std::uint64_t rounds = 0;         ///< of work on present partitions
  std::uint64_t mapped_rounds = 0;  ///< of these, rounds that read some partitions in place

  /// Adds later traffic; `partitions` is then the later number.
  void add_traffic(const Traffic& later) {
    partitions = later.partitions;
    partition_transfers += later.partition_transfers;
    host_to_device_bytes += later.host_to_device_bytes;
    read_bytes += later.read_bytes;
    exchanged_bytes += later.exchanged_bytes;
    mapped_bytes += later.mapped_bytes;
    rounds += later.rounds, mapped_rounds += later.mapped_rounds;
  }

  /// The traffic after `before`.
  Traffic since(const Traffic& before) const {
    return {partitions,
            partition_transfers - before.partition_transfers,
            host_to_device_bytes - before.host_to_device_bytes,
            read_bytes - before.read_bytes,
            exchanged_bytes - before.exchanged_bytes,
            mapped_bytes - before.mapped_bytes,
            rounds - before.rounds,
            mapped_rounds - before.mapped_rounds};
  }
};

}  // namespace sluice

// Work over ranks that each own a range of partitions: what the ranks agree on, whose instances a batch
// holds, and how many of each rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/paged_plan.hpp"

namespace sluice {

/// Partitions [begin, end) that a rank owns: contiguous, equally many.
struct OwnedPartitions {
  std::uint32_t begin = 0, end = 0;
  static OwnedPartitions of(std::uint64_t partitions, int rank, int ranks);
  /// What this rank owns; all of them where `ranks` is null.
  static OwnedPartitions of(const Communicator* ranks, std::uint64_t partitions);
};

/// The ranks that own partitions, and the ranks that own vertices by the partitions of `plan`.
Ownership owners_of_partitions(const Communicator& ranks, std::uint64_t partitions);
Ownership owners_of_vertices(const Communicator& ranks, const PartitionPlan& plan);

/// Device memory that moves walks between ranks which do not hold all of their partitions: 4 to 64 MiB, by
/// what the device has. Each piece of a journey waits for all ranks, so that large pieces are few.
std::uint64_t travelling_bytes(const Device& device);

/// As plan_pages, agreed upon by all ranks (null: as plan_pages): the same cut, and as many instances of each
/// rank in a batch. `instances` and `batch` count those of one rank; `bytes_per_instance` is what this rank
/// holds for one of each rank. Walks that travel keep whole rows.
PagedPlan plan_shard(Communicator* ranks, const Device& device, const Graph& graph,
                     const PagingOptions& paging, const PageColumns& columns,
                     std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps,
                     std::uint64_t taken = 0, std::uint64_t row_bytes = 0);

/// Whose instances a batch holds: [begin, end) of every rank in turn, `per_origin` of each at a time. Alone
/// there is one origin rank.
class BatchOrigins {
 public:
  BatchOrigins(const Device& device, Communicator* ranks, Instance begin, Instance end,
               std::uint64_t per_origin);

  std::uint64_t batches() const { return batches_; }
  std::uint64_t size() const { return begins_.size(); }
  /// Walks of a batch, those that do not exist counted.
  std::uint64_t capacity() const { return size() * per_origin_; }
  /// Makes batch `w` the current one.
  void begin(std::uint64_t w);
  // On the device: [size] the current batch's first instance of each origin rank, and how many there are.
  const Instance* firsts() const { return device_firsts_.data(); }
  const std::uint64_t* counts() const { return device_counts_.data(); }
  /// The current batch's instances of this rank.
  std::size_t own() const { return own_; }
  Instance own_first() const { return firsts_[own_]; }
  std::uint64_t own_count() const { return counts_[own_]; }
  /// How many instances of an origin rank the current batch holds, and the most of any.
  std::uint64_t count(std::uint64_t origin) const { return counts_[origin]; }
  std::uint64_t most() const { return *std::max_element(counts_.begin(), counts_.end()); }

 private:
  const Device& device_;
  std::uint64_t per_origin_, batches_ = 0;
  std::size_t own_ = 0;
  std::vector<Instance> begins_, ends_, firsts_;
  std::vector<std::uint64_t> counts_;
  Buffer<Instance> device_firsts_;
  Buffer<std::uint64_t> device_counts_;
};

}  // namespace sluice

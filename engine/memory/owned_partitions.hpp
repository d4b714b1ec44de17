// Work over ranks that each own a range of partitions: plans that all ranks agree on, and the instances of a
// batch by origin rank.
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

/// The partitions [begin, end) that a rank owns: contiguous, and equally many for each rank.
struct OwnedPartitions {
  std::uint32_t begin = 0, end = 0;
  static OwnedPartitions of(std::uint64_t partitions, int rank, int ranks);
  /// What this rank owns; all partitions if `ranks` is null.
  static OwnedPartitions of(const Communicator* ranks, std::uint64_t partitions);
};

/// The ranks as owners of partitions, and as owners of vertices by the partitions of `plan`.
Ownership owners_of_partitions(const Communicator& ranks, std::uint64_t partitions);
Ownership owners_of_vertices(const Communicator& ranks, const PartitionPlan& plan);

/// Device bytes for sending walks between ranks whose partitions are not resident: 4 to 64 MiB, by the
/// device's memory. Each piece that is sent waits for all ranks, so pieces should be large and few.
std::uint64_t exchange_buffer_bytes(const Device& device);

/// As plan_pages, with the same result on all ranks: the same partitions, and equally many instances of each
/// rank in a batch. `ranks` null: plan_pages. `instances` and `batch` count those of one rank;
/// `bytes_per_instance` is what this rank holds for one instance of each. Walks that travel keep whole rows.
PagedPlan plan_shard(Communicator* ranks, const Device& device, const Graph& graph,
                     const PagingOptions& paging, const PageColumns& columns,
                     std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps,
                     std::uint64_t reserved_bytes = 0, std::uint64_t row_bytes = 0);

/// The instances of a batch: `per_origin` at a time of each rank's range [begin, end). A run of one rank has
/// one origin rank.
class BatchOrigins {
 public:
  BatchOrigins(const Device& device, Communicator* ranks, Instance begin, Instance end,
               std::uint64_t per_origin);

  std::uint64_t batches() const { return batches_; }
  std::uint64_t size() const { return begins_.size(); }
  /// Walks that a batch has memory for, whether they exist or not.
  std::uint64_t capacity() const { return size() * per_origin_; }
  /// Makes batch `w` the current one.
  void begin(std::uint64_t w);
  // In device memory, [size]: the current batch's first instance of each origin rank, and their number.
  const Instance* firsts() const { return device_firsts_.data(); }
  const std::uint64_t* counts() const { return device_counts_.data(); }
  /// This rank's instances in the current batch.
  std::size_t own_index() const { return own_index_; }
  Instance own_first() const { return firsts_[own_index_]; }
  std::uint64_t own_count() const { return counts_[own_index_]; }
  /// The number of an origin rank's instances in the current batch, and the largest such number.
  std::uint64_t count(std::uint64_t origin) const { return counts_[origin]; }
  std::uint64_t max_count() const { return *std::max_element(counts_.begin(), counts_.end()); }

 private:
  const Device& device_;
  std::uint64_t per_origin_, batches_ = 0;
  std::size_t own_index_ = 0;
  std::vector<Instance> begins_, ends_, firsts_;
  std::vector<std::uint64_t> counts_;
  Buffer<Instance> device_firsts_;
  Buffer<std::uint64_t> device_counts_;
};

}  // namespace sluice

// Walks on a graph in partitions, by queues: brings partitions where walks wait, works on what is
// here while the next ones come, until all walks of a batch have ended; batch by batch.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/partitioned/queues.hpp"

namespace sluice {

/// Makes a batch of so many walks, in legs of so many steps, with so many keys.
using MakeQueues =
    FunctionRef<std::unique_ptr<WalkQueues>(std::uint64_t capacity, std::uint32_t leg, std::uint32_t keys)>;

/// Walks so. `bytes_per_walk`: of device memory, beside its path.
void walk_in_partitions(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                        const WalkOptions& options, RunStats& stats, Instance begin, Instance end,
                        WalkSink* sink, std::uint64_t bytes_per_walk, const MakeQueues& make);

/// The same by the backend's PagedBatch.
template <class Program, class Batch>
void walk_in_partitions(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                        StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                        Instance end, WalkSink* sink) {
  const auto make = [&](std::uint64_t capacity, std::uint32_t leg,
                        std::uint32_t keys) -> std::unique_ptr<WalkQueues> {
    return std::make_unique<Batch>(graph.device, graph.paging, program, capacity, leg, keys);
  };
  walk_in_partitions(graph, pages, starts, options, stats, begin, end, sink, Batch::kBytesPerWalk, make);
}

}  // namespace sluice

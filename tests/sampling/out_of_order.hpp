// Samples out of order (PagingOptions::out_of_order) where they take fewer transfers, on either backend.
#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "engine/memory/resident_impl.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {

/// Rings of `length` vertices, one behind the other: a partition of one holds all that its instances want.
inline Graph rings(std::uint64_t count, std::uint64_t length) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(count * length + 1);
  graph.out.targets = HostArray<Vertex>(count * length);
  std::iota(graph.out.offsets.begin(), graph.out.offsets.end(), EdgeIndex{0});
  for (std::uint64_t v = 0; v < count * length; ++v)
    graph.out.targets[v] = static_cast<Vertex>(v / length * length + (v + 1) % length);
  return graph;
}

/// Instances that are done with a depth wait for no others, with the same results.
inline void expect_no_instance_waits(Device& device) {
  constexpr unsigned kParts = 6;
  const Graph graph = rings(kParts, 100);
  ResidentGraph whole(device, graph);
  samples::Options options;
  options.fanout = {1, 1, 1, 1}, options.revisit = true;
  SampleDigest expected;
  sampling::run_samples(whole, {}, options, &expected);
  for (const SchedulePolicy schedule : {SchedulePolicy::workload, SchedulePolicy::fifo}) {
    ResidentGraph parts(device, graph,
                        {.partitions = kParts,
                         .slots = 2,
                         .transport = Transport::copied,
                         .schedule = schedule,
                         .out_of_order = true});
    SampleDigest digest;

    const RunStats stats = sampling::run_samples(parts, {}, options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_EQ(stats.sampled_edges, 4 * graph.vertices());
    EXPECT_EQ(stats.partition_transfers, kParts) << "each comes once for all depths";
  }
}

}  // namespace sluice::test

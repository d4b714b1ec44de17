// Samples out of order on either backend: all jobs that allow it, and cases in which they need fewer
// transfers.
#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "apps/bench/papers/out_of_order.hpp"
#include "engine/memory/resident_impl.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {

/// Runs out of order in partitions if kind and rule allow it; a snowball is a neighbor sample of all edges.
inline RunStats run_out_of_order_if_possible(ResidentGraph& graph, const Starts& starts,
                                             const samples::Options& options, SampleSink* sink) {
  samples::Options sample = options;
  if (options.kind == samples::Kind::snowball)
    sample.kind = samples::Kind::neighbor, sample.fanout.assign(options.depth, -1);
  const bool grows = sample.kind == samples::Kind::neighbor || sample.kind == samples::Kind::forest_fire;
  return graph.impl().paged && grows && options.revisit
             ? bench::papers::run_out_of_order(graph, starts, sample, sink)
             : sampling::run_samples(graph, starts, options, sink);
}

/// Separate rings of `length` vertices: a partition of one ring has all lists that its instances need.
inline Graph rings(std::uint64_t count, std::uint64_t length) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(count * length + 1);
  graph.out.targets = HostArray<Vertex>(count * length);
  std::iota(graph.out.offsets.begin(), graph.out.offsets.end(), EdgeIndex{0});
  for (std::uint64_t v = 0; v < count * length; ++v)
    graph.out.targets[v] = static_cast<Vertex>(v / length * length + (v + 1) % length);
  return graph;
}

/// Instances that complete a depth wait for no others, with the same results.
inline void expect_no_instance_waits(Device& device) {
  constexpr unsigned kParts = 6;
  const Graph graph = rings(kParts, 100);
  ResidentGraph whole(device, graph);
  samples::Options options;
  options.fanout = {1, 1, 1, 1}, options.revisit = true;
  SampleDigest expected;
  sampling::run_samples(whole, {}, options, &expected);
  for (const SchedulePolicy schedule : {SchedulePolicy::workload, SchedulePolicy::fifo}) {
    ResidentGraph parts(
        device, graph,
        {.partitions = kParts, .slots = 2, .transport = Transport::copied, .schedule = schedule});
    SampleDigest digest;

    const RunStats stats = bench::papers::run_out_of_order(parts, {}, options, &digest);

    EXPECT_TRUE(digest == expected);
    EXPECT_EQ(stats.sampled_edges, 4 * graph.vertices());
    EXPECT_EQ(stats.partition_transfers, kParts) << "each comes once for all depths";
  }
}

}  // namespace sluice::test

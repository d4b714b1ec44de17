// Decides between a whole graph and partitions, for runs whose options leave the choice open.
#pragma once

#include <cstdint>

#include "engine/sampling/run.hpp"

namespace sluice::sampling {

/// The least device memory of a run on the whole graph: the graph, tables, the smallest batch. On a GPU a
/// sample whose size is not known beforehand is estimated.
template <class Options>
std::uint64_t whole_bytes(const Device& device, const Graph& graph, const Starts& starts, Options options);

/// Runs the kind that `options` names, on the graph as it is: whole or in partitions.
RunStats run_kind(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink);
RunStats run_kind(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink);

}  // namespace sluice::sampling
